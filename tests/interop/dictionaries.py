# SPDX-License-Identifier: Apache-2.0
"""Data dictionaries in QuickFIX's format, with the messages that the venue sends and what each version allows in them.

Source: FIX 4.2, FIX 4.4, FIX 5.0 SP2 (volumes 3, 4 and 6), FIXT 1.1. Of fields with values, those of each version.
"""

import os

FIELDS = {
    1: "Account STRING", 6: "AvgPx PRICE", 7: "BeginSeqNo INT", 8: "BeginString STRING", 9: "BodyLength INT",
    10: "CheckSum STRING", 11: "ClOrdID STRING", 14: "CumQty QTY", 16: "EndSeqNo INT", 17: "ExecID STRING",
    20: "ExecTransType CHAR", 31: "LastPx PRICE", 32: "LastQty QTY", 34: "MsgSeqNum INT", 35: "MsgType STRING",
    36: "NewSeqNo INT", 37: "OrderID STRING", 38: "OrderQty QTY", 39: "OrdStatus CHAR", 41: "OrigClOrdID STRING",
    43: "PossDupFlag BOOLEAN", 44: "Price PRICE", 45: "RefSeqNum INT", 49: "SenderCompID STRING",
    52: "SendingTime UTCTIMESTAMP", 54: "Side CHAR", 55: "Symbol STRING", 56: "TargetCompID STRING", 58: "Text STRING",
    60: "TransactTime UTCTIMESTAMP", 97: "PossResend BOOLEAN", 98: "EncryptMethod INT", 102: "CxlRejReason INT",
    103: "OrdRejReason INT", 108: "HeartBtInt INT", 112: "TestReqID STRING", 122: "OrigSendingTime UTCTIMESTAMP",
    117: "QuoteID STRING", 123: "GapFillFlag BOOLEAN", 134: "BidSize QTY", 135: "OfferSize QTY", 141: "ResetSeqNumFlag BOOLEAN", 150: "ExecType CHAR", 151: "LeavesQty QTY",
    295: "NoQuoteEntries NUMINGROUP", 296: "NoQuoteSets NUMINGROUP", 297: "QuoteStatus INT",
    299: "QuoteEntryID STRING", 300: "QuoteRejectReason INT", 302: "QuoteSetID STRING", 304: "TotNoQuoteEntries INT",
    368: "QuoteEntryRejectReason INT", 371: "RefTagID INT", 372: "RefMsgType STRING", 373: "SessionRejectReason INT", 378: "ExecRestatementReason INT",
    380: "BusinessRejectReason INT", 434: "CxlRejResponseTo CHAR", 530: "MassCancelRequestType CHAR",
    531: "MassCancelResponse CHAR", 532: "MassCancelRejectReason INT", 584: "MassStatusReqID STRING", 789: "NextExpectedMsgSeqNum INT",
    790: "OrdStatusReqID STRING", 851: "LastLiquidityInd INT", 911: "TotNumReports INT",
    912: "LastRptRequested BOOLEAN", 1137: "DefaultApplVerID STRING",
    1369: "MassActionReportID STRING",
    83: "RptSeq INT", 262: "MDReqID STRING", 268: "NoMDEntries NUMINGROUP", 269: "MDEntryType CHAR", 270: "MDEntryPx PRICE",
    271: "MDEntrySize QTY", 272: "MDEntryDate UTCDATEONLY", 273: "MDEntryTime UTCTIMEONLY",
    276: "QuoteCondition MULTIPLEVALUESTRING", 277: "TradeCondition MULTIPLEVALUESTRING", 278: "MDEntryID STRING",
    279: "MDUpdateAction CHAR", 281: "MDReqRejReason CHAR", 290: "MDEntryPositionNo INT", 346: "NumberOfOrders INT",
    1023: "MDPriceLevel INT",
    # Of reference data.
    22: "SecurityIDSource STRING", 48: "SecurityID STRING", 146: "NoRelatedSym NUMINGROUP", 167: "SecurityType STRING",
    200: "MaturityMonthYear MONTHYEAR", 201: "PutOrCall INT", 202: "StrikePrice PRICE", 205: "MaturityDay INT",
    311: "UnderlyingSymbol STRING", 319: "RatioQty QTY", 320: "SecurityReqID STRING", 322: "SecurityResponseID STRING",
    323: "SecurityResponseType INT", 324: "SecurityStatusReqID STRING", 326: "SecurityTradingStatus INT",
    393: "TotNoRelatedSym INT", 461: "CFICode STRING", 541: "MaturityDate LOCALMKTDATE", 555: "NoLegs NUMINGROUP",
    560: "SecurityRequestResult INT", 561: "RoundLot QTY", 600: "LegSymbol STRING", 602: "LegSecurityID STRING",
    603: "LegSecurityIDSource STRING", 623: "LegRatioQty FLOAT", 624: "LegSide CHAR", 625: "TradingSessionSubID STRING",
    893: "LastFragment BOOLEAN", 969: "MinPriceIncrement FLOAT", 1079: "MaturityTime STRING", 1140: "MaxTradeVol QTY",
    1148: "LowLimitPrice PRICE", 1149: "HighLimitPrice PRICE", 1151: "SecurityGroup STRING", 1301: "MarketID EXCHANGE",
    1310: "NoMarketSegments NUMINGROUP",
    # Of positions.
    379: "BusinessRejectRefID STRING", 581: "AccountType INT", 702: "NoPositions NUMINGROUP", 703: "PosType STRING",
    704: "LongQty QTY", 705: "ShortQty QTY", 707: "PosAmtType STRING", 708: "PosAmt AMT", 710: "PosReqID STRING",
    715: "ClearingBusinessDate LOCALMKTDATE", 721: "PosMaintRptID STRING", 724: "PosReqType INT",
    727: "TotalNumPosReports INT", 728: "PosReqResult INT", 729: "PosReqStatus INT", 730: "SettlPrice PRICE",
    731: "SettlPriceType INT", 734: "PriorSettlPrice PRICE", 753: "NoPosAmt NUMINGROUP",
}
VALUES = {
    39: {"FIX.4.2": "0123456789ABCDE", "FIX.4.4": "0123456789ABCDE", "FIX.5.0SP2": "0123456789ABCDE"},
    150: {"FIX.4.2": "0123456789ABCDE", "FIX.4.4": "03456789ABCDEFGHI", "FIX.5.0SP2": "03456789ABCDEFGHIJKL"},
    20: {"FIX.4.2": "0123"},
    54: {"FIX.4.2": "123456789", "FIX.4.4": "123456789ABCDEFG", "FIX.5.0SP2": "123456789ABCDEFG"},
    102: {"FIX.4.2": "0123", "FIX.4.4": [*range(7), 99], "FIX.5.0SP2": [*range(9), 18, 99]},
    103: {"FIX.4.2": range(9), "FIX.4.4": [*range(12), 13, 14, 15, 99], "FIX.5.0SP2": [*range(17), 18, 99]},
    297: {"FIX.4.2": range(6), "FIX.4.4": range(16), "FIX.5.0SP2": range(21)},
    300: {"FIX.4.2": range(1, 10), "FIX.4.4": [*range(1, 10), 99], "FIX.5.0SP2": [*range(1, 14), 99]},
    368: {"FIX.4.2": range(1, 10), "FIX.4.4": [*range(1, 10), 99], "FIX.5.0SP2": [*range(1, 14), 99]},
    201: {"FIX.4.2": "01", "FIX.5.0SP2": "01"},
    323: {"FIX.4.2": "123456", "FIX.4.4": "1256", "FIX.5.0SP2": "123456"},
    326: {"FIX.4.2": [*range(1, 11), *range(12, 21)], "FIX.4.4": [*range(1, 11), *range(12, 24)],
          "FIX.5.0SP2": [*range(1, 11), *range(12, 27)]},
    560: {"FIX.4.4": "012345", "FIX.5.0SP2": "012345"},
    625: {"FIX.5.0SP2": "1234567"},
    378: {"FIX.4.2": range(6), "FIX.4.4": [*range(11), 99], "FIX.5.0SP2": [*range(12), 99]},
    434: {"FIX.4.2": "12", "FIX.4.4": "12", "FIX.5.0SP2": "12"},
    530: {"FIX.4.4": "1234567", "FIX.5.0SP2": "123456789ABC"},
    531: {"FIX.4.4": "01234567", "FIX.5.0SP2": "0123456789ABC"},
    532: {"FIX.4.4": [*range(7), 99], "FIX.5.0SP2": [*range(12), 99]},
    269: {"FIX.4.2": "0123456789", "FIX.4.4": "0123456789ABC", "FIX.5.0SP2": "0123456789ABCDEFGHJKLMNOPQ"},
    279: {"FIX.4.2": "012", "FIX.4.4": "012", "FIX.5.0SP2": "012345"},
    281: {"FIX.4.2": "012345678", "FIX.4.4": "0123456789ABC", "FIX.5.0SP2": "0123456789ABCD"},
    581: {"FIX.4.4": "1234678", "FIX.5.0SP2": "1234678"},
    703: {"FIX.4.4": ["TQ", "FIN", "SOD"], "FIX.5.0SP2": ["TQ", "FIN", "SOD"]},
    707: {"FIX.4.4": ["FMTM", "CASH"], "FIX.5.0SP2": ["FMTM", "CASH"]},
    724: {"FIX.4.4": "0123", "FIX.5.0SP2": "012345"},
    728: {"FIX.4.4": [*range(5), 99], "FIX.5.0SP2": [*range(5), 99]},
    729: {"FIX.4.4": "012", "FIX.5.0SP2": "012"},
    731: {"FIX.4.4": "12", "FIX.5.0SP2": "12"},
    851: {"FIX.4.4": "123", "FIX.5.0SP2": "1234"},
}
# (MsgType, name, tags that are required, others)
SESSION = [
    ("A", "Logon", (98, 108), (141, 58)), ("0", "Heartbeat", (), (112,)), ("1", "TestRequest", (112,), ()),
    ("2", "ResendRequest", (7, 16), ()), ("3", "Reject", (45,), (58, 371, 372, 373)),
    ("4", "SequenceReset", (36,), (123,)), ("5", "Logout", (), (58,)),
]
REFUSALS = [("9", "OrderCancelReject", (37, 11, 41, 39, 434), (58, 60, 102)),
            ("j", "BusinessMessageReject", (372, 380), (45, 58, 379))]
REPORT = (37, 17, 150, 39, 55, 54, 151, 14, 6)
REPORT_MORE = (1, 11, 31, 32, 38, 41, 44, 58, 60, 103, 378)
MASS_CANCEL = (37, 530, 531)
MASS_STATUS = (584, 911, 912)
# Repeating groups: {count: members}
ENTRIES = {295: (299, 55, 134, 135, 368)}
QUOTE_STATUS = (1, 55, 58, 60, 134, 135, 297)
# Of market data: the entries of W and X. The first field begins an entry.
ENTRY = (270, 271, 272, 273, 276, 277, 290, 346)
SNAPSHOT = {"FIX.4.2": (269, *ENTRY), "FIX.4.4": (269, *ENTRY), "FIX.5.0SP2": (269, 278, *ENTRY, 1023, 83)}
CHANGES = {"FIX.4.2": (279, 269, 278, 55, *ENTRY), "FIX.4.4": (279, 269, 278, 55, *ENTRY),
           "FIX.5.0SP2": (279, 269, 278, 55, *ENTRY, 1023, 83)}


def market_data(version):
    """W, X and Y."""
    return [("W", "MarketDataSnapshotFullRefresh", (55, {268: SNAPSHOT[version]}), (262,)),
            ("X", "MarketDataIncrementalRefresh", ({268: CHANGES[version]},), (262,)),
            ("Y", "MarketDataRequestReject", (262,), (281, 58))]


# Of reference data.
INSTRUMENT = {
    "FIX.4.2": (48, 22, 167, 200, 201, 202, 205),
    "FIX.4.4": (48, 22, 461, 167, 541, 202),
    "FIX.5.0SP2": (48, 22, 1151, 461, 167, 541, 1079, 202, 201, 969),
}
LEGS = {555: (600, 602, 603, 623, 624)}
RULES = (1148, 1149, 1140, 561)
STATUS = ("f", "SecurityStatus", (55,))
REFERENCE = {
    "FIX.4.2": [("d", "SecurityDefinition", (320, 322, 393),
                 (323, 55, *INSTRUMENT["FIX.4.2"], 58, {146: (311, 319, 54)})),
                (*STATUS, (324, *INSTRUMENT["FIX.4.2"], 326))],
    "FIX.4.4": [("y", "SecurityList", (320, 322, 560), (393, 893, {146: (55, *INSTRUMENT["FIX.4.4"], LEGS, 561, 58)})),
                ("d", "SecurityDefinition", (320, 322, 323), (55, *INSTRUMENT["FIX.4.4"], 58, LEGS, 561)),
                (*STATUS, (324, *INSTRUMENT["FIX.4.4"], 625, 326, 58))],
    "FIX.5.0SP2": [("y", "SecurityList", (), (320, 322, 560, 393, 893,
                                              {146: (55, *INSTRUMENT["FIX.5.0SP2"], *RULES, LEGS, 58)})),
                   ("d", "SecurityDefinition", (), (320, 322, 323, 55, *INSTRUMENT["FIX.5.0SP2"], 58, LEGS,
                                                    {1310: (1301, *RULES)})),
                   (*STATUS, (324, *INSTRUMENT["FIX.5.0SP2"], 625, 326, 58))],
}
QUANTITIES = {702: (703, 704, 705)}
AMOUNTS = {753: (707, 708)}
POSITIONS = {
    "FIX.4.4": [("AO", "RequestForPositionsAck", (721, 728, 729, 1, 581), (710, 727, 55, 58)),
                ("AP", "PositionReport", (721, 728, 715, 1, 581, 730, 731, 734, QUANTITIES, AMOUNTS),
                 (710, 724, 55, 48, 22))],
    "FIX.5.0SP2": [("AO", "RequestForPositionsAck", (721, 728, 729), (710, 727, 724, 715, 1, 581, 55, 58)),
                   ("AP", "PositionReport", (721, 715), (710, 724, 728, 1, 581, 55, 48, 22, 730, 731, QUANTITIES))],
}
MESSAGES = {
    "FIX.4.2": [*SESSION, *REFUSALS, *market_data("FIX.4.2"), *REFERENCE["FIX.4.2"],
                ("8", "ExecutionReport", (*REPORT, 20), REPORT_MORE),
                ("b", "QuoteAcknowledgement", (297,), (117, 58, 300, {296: (302, 304, {295: (299, 55, 368)})}))],
    "FIX.4.4": [*SESSION, *REFUSALS, *market_data("FIX.4.4"), *REFERENCE["FIX.4.4"],
                *POSITIONS["FIX.4.4"],
                ("8", "ExecutionReport", REPORT, (*REPORT_MORE, *MASS_STATUS, 790, 851)),
                ("r", "OrderMassCancelReport", MASS_CANCEL, (11, 58, 60, 532)),
                ("AI", "QuoteStatusReport", (117,), QUOTE_STATUS),
                ("b", "MassQuoteAcknowledgement", (297,), (117, 1, 58, 300, {296: (302, 304, ENTRIES)}))],
    "FIXT.1.1": SESSION,
    "FIX.5.0SP2": [*REFUSALS, *market_data("FIX.5.0SP2"), *REFERENCE["FIX.5.0SP2"],
                   *POSITIONS["FIX.5.0SP2"],
                   ("8", "ExecutionReport", REPORT, (*REPORT_MORE, *MASS_STATUS, 790, 851)),
                   ("r", "OrderMassCancelReport", (*MASS_CANCEL, 1369), (11, 58, 60, 532)),
                   ("AI", "QuoteStatusReport", (), (117, *QUOTE_STATUS, 300)),
                   ("b", "MassQuoteAcknowledgement", (297,), (117, 1, 58, 300, {296: (302, 304, ENTRIES)}))],
}


def field_list(required, others):
    text = ""
    for tag in (*required, *others):
        if isinstance(tag, dict):
            [(count, members)] = tag.items()
            text += f'<group name="{FIELDS[count].split()[0]}" required="{"Y" if tag in required else "N"}">\n'
            text += f'{field_list((), members)}</group>\n'
        else:
            text += f'<field name="{FIELDS[tag].split()[0]}" required="{"Y" if tag in required else "N"}"/>\n'
    return text


def write(version, folder):
    """Writes the dictionary of a version into the folder, under the name that it has with QuickFIX."""
    transport = "FIXT" if version == "FIXT.1.1" else "FIX"
    major, minor = version.removeprefix("FIXT.").removeprefix("FIX.").split(".")
    minor, _, pack = minor.partition("SP")
    text = f'<fix type="{transport}" major="{major}" minor="{minor}" servicepack="{pack or 0}">\n<header>\n'
    if version == "FIX.5.0SP2":
        text += "</header>\n<trailer/>\n"
    else:
        text += field_list((8, 9, 35, 49, 56, 34, 52), (43, 97, 122)) + "</header>\n<trailer>\n"
        text += field_list((10,), ()) + "</trailer>\n"
    text += "<messages>\n"
    for kind, name, required, others in MESSAGES[version]:
        category = "admin" if kind in "A012345" else "app"
        if kind == "A":
            others = (*others, 789) if version in ("FIX.4.4", "FIXT.1.1") else others
            required = (*required, 1137) if transport == "FIXT" else required
        text += f'<message name="{name}" msgtype="{kind}" msgcat="{category}">\n{field_list(required, others)}</message>\n'
    text += "</messages>\n<components/>\n<fields>\n"
    for tag, described in FIELDS.items():
        name, kind = described.split()
        values = "".join(f'<value enum="{value}" description="{name}{value}"/>' for value in VALUES.get(tag, {}).get(version, ()))
        text += f'<field number="{tag}" name="{name}" type="{kind}">{values}</field>\n'
    path = os.path.join(folder, version.replace(".", "") + ".xml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text + "</fields>\n</fix>\n")
    return path
