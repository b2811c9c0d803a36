# SPDX-License-Identifier: Apache-2.0
"""Order entry over Corro Binary, with asyncio."""

from __future__ import annotations

import asyncio
import contextlib
import enum
import hashlib
import hmac
import operator
import secrets
import time
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from types import TracebackType
from typing import SupportsIndex, TypeAlias, TypeVar, cast

from corro import _wire as wire
from corro._price import Price, nano
from corro._serve import Account, Address, Venue

Private: TypeAlias = (
    "wire.OrderEntered | wire.OrderAmended | wire.OrderCancelled | wire.OrderExecuted | wire.OrderRejected | "
    "wire.TradeCapture | wire.LegCapture | wire.OrderStatus | wire.RequestDone | wire.QuoteEntered | "
    "wire.ProtectionChanged"
)
"""A message to the owner of an order."""

_Choice = TypeVar("_Choice", bound=enum.IntEnum)

_BLOCK_MOST = 512 - wire.HEADER.size
_PROOF_OFFSET = 48
_KEPT_REQUESTS = 65_536
_QUANTITY_MOST = 2**63 - 1
_CLIENT_ORDER_MOST = 2**64 - 1
_CONNECT_TIMEOUT = 10.0
_BACK_OFF = (0.05, 1.0)
_FINAL = frozenset({wire.LogoutReason.TAKEN_OVER, wire.LogoutReason.AUTHENTICATION_FAILED,
                    wire.LogoutReason.UNSUPPORTED_VERSION, wire.LogoutReason.SEQUENCE_UNKNOWN,
                    wire.LogoutReason.PROTOCOL_ERROR, wire.LogoutReason.THROTTLED})  # fmt: skip


class SessionError(ConnectionError):
    """The session has no connection, or is over."""


class LoggedOut(SessionError):
    """The venue has ended the session, or refuses it."""

    def __init__(self, reason: wire.LogoutReason) -> None:
        self.reason = reason
        super().__init__(f"the venue ends the session: {reason.name.lower()}")


class Rejected(Exception):
    """The venue rejects a request. `reason` has the cause, `order` the order that it was about, if any."""

    def __init__(self, reason: wire.RejectReason, order: Order | None = None) -> None:
        self.reason = reason
        self.order = order
        super().__init__(f"rejected: {reason.name.lower()}{'' if order is None else f' ({order.describe()})'}")


class Refused(Exception):
    """The venue does not take a message: a field is invalid, or its number."""

    def __init__(self, answer: wire.Reject) -> None:
        self.answer = answer
        at = f", field {answer.refused_field}" if answer.refused_field else ""
        super().__init__(f"refused: {answer.session_reject_reason.name.lower()} (request {answer.refused_sequence}{at})")


@dataclass(frozen=True)
class Fill:
    """One fill of an order."""

    price: float
    quantity: int
    time: int
    """Nanoseconds since the epoch."""
    is_aggressor: bool


@dataclass(eq=False)
class _Amend:
    """What an amend under way asks for."""

    quantity: int
    limit: int | None


@dataclass(eq=False)
class Order:
    """An order of this client, as far as its messages have told."""

    instrument: str
    side: str
    """``"buy"`` or ``"sell"``."""
    quantity: int
    price: float | None
    client_order: int
    id: int = 0
    """The venue's id; 0 before the first message."""
    open: int = 0
    status: str = "sent"
    """``"sent"``, ``"open"``, ``"filled"``, ``"cancelled"`` or ``"rejected"``."""
    reason: str = ""
    """Why it was rejected, or cancelled without a request."""
    fills: list[Fill] = field(default_factory=list)
    _amends: list[_Amend] = field(default_factory=list, repr=False)
    """Under way, in the order in which they were sent."""
    _ended: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    """It is over, or nothing more will be heard of it."""
    _failure: SessionError | None = field(default=None, repr=False)

    @property
    def filled(self) -> int:
        """The quantity that has traded."""
        return sum(each.quantity for each in self.fills)

    @property
    def average_price(self) -> float:
        """Of the fills; NaN without any."""
        filled = self.filled
        return sum(each.price * each.quantity for each in self.fills) / filled if filled else float("nan")

    @property
    def is_over(self) -> bool:
        """Whether nothing can happen to it any more."""
        return self.status in ("filled", "cancelled", "rejected")

    async def over(self) -> Order:
        """Waits until the order is filled, cancelled or rejected.

        Raises
        ------
        SessionError
            The client's session ended before; what became of the order is not known.
        """
        await self._ended.wait()
        if self._failure is not None and not self.is_over:
            raise SessionError(f"{self._failure}; {self.describe()} was {self.status}")
        return self

    def describe(self) -> str:
        """In few words, for messages."""
        price = "market" if self.price is None else f"{self.price:g}"
        return f"{self.side} {self.quantity} {self.instrument} at {price}"


@dataclass
class _Pending:
    """A request without its last answer."""

    answered: asyncio.Future[list[Private]]
    answers: list[Private] = field(default_factory=list)
    client_order: int = 0
    about: Order | None = None
    amend: _Amend | None = None

    def leave(self) -> None:
        """It is answered, or will not be."""
        if self.about is not None and self.amend is not None:
            self.about._amends.remove(self.amend)


class Client:
    """A session of order entry. Made by `Client.connect`; an asynchronous context manager that logs out.

    Requests are coroutines that return when the venue has answered. `Order` objects follow what happens to them.

    With ``reconnect=SECONDS`` a lost connection is made again: the venue sends what was missed, and requests that it
    has not taken are sent again under their old numbers, so that each counts once.

    Examples
    --------
    >>> async with await corro.Client.connect(venue, "alice") as alice:
    ...     order = await alice.buy("ESZ6", 5, 5998.75)
    ...     await alice.cancel(order)
    """

    def __init__(
        self,
        address: Address,
        account: int,
        key: bytes,
        session: int,
        heartbeat: float,
        flags: wire.HelloFlags,
        reconnect: float,
        next_answer: int,
        session_day: int,
    ) -> None:
        """Use `Client.connect`: a client without a connection is of no use."""
        self._address = address
        self._account = account
        self._key = key
        self._heartbeat = heartbeat
        self._session_number = session
        self._flags = flags
        self._reconnect = reconnect
        self._next_answer = next_answer
        self._session_day = session_day
        self._next_request = 1
        self._next_client_order = time.time_ns()
        self._instruments: dict[str, wire.InstrumentDefinition] = {}
        self._orders: dict[int, Order] = {}
        self._pending: dict[int, _Pending] = {}
        self._sent: deque[tuple[int, bytes]] = deque(maxlen=_KEPT_REQUESTS)
        self._refused: set[int] = set()
        self._listeners: list[asyncio.Queue[Private | None]] = []
        # What came before anybody could listen, for a client that continues a session.
        self._missed: list[Private] | None = [] if next_answer else None
        self._gaps: list[wire.ResendGap] = []
        self._ready = asyncio.Event()
        self._definitions_left = 0
        self._logged_out = False
        self._failure: SessionError | None = None
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._runner: asyncio.Task[None] | None = None
        self._interval = heartbeat
        self._last_sent = self._last_received = time.monotonic()

    @classmethod
    async def connect(
        cls,
        venue: Venue | Address | str,
        account: str | Account | int,
        *,
        key: str | bytes | None = None,
        session: int = 1,
        heartbeat: float = 5.0,
        cancel_on_disconnect: bool = True,
        take_over: bool = False,
        reconnect: float = 0.0,
        next_answer: int = 0,
        session_day: int = 0,
    ) -> Client:
        """Connects and logs on.

        Parameters
        ----------
        venue
            A `Venue`, or its order entry as ``(host, port)`` or ``"host:port"``.
        account
            The name of an account of the `Venue`, or an account's number with its `key`.
        key
            64 hexadecimal digits, or 32 bytes.
        session
            The number of the session among the account's.
        heartbeat
            Seconds between heartbeats, from 0.1 to 60.
        cancel_on_disconnect
            Whether the venue cancels the session's orders when the connection is lost.
        take_over
            Whether another connection of the session is ended; otherwise the logon is refused.
        reconnect
            Seconds for which a lost connection is tried again. 0: a lost connection ends the session.
        next_answer, session_day
            To continue an earlier session: `Client.next_answer` and `Client.session_day` as they were at its end.

        Raises
        ------
        LoggedOut
            The venue refuses the logon.
        """
        number, secret = _credentials(venue, account, key)
        if not 0.1 <= heartbeat <= 60:
            raise ValueError(f"heartbeat={heartbeat:g}: from 0.1 to 60 seconds")
        flags = wire.HelloFlags(0)
        if cancel_on_disconnect:
            flags |= wire.HelloFlags.CANCEL_ON_DISCONNECT
        if take_over:
            flags |= wire.HelloFlags.TAKE_OVER
        self = cls(
            address_of(venue),
            number,
            secret,
            _positive("session", session),
            heartbeat,
            flags,
            reconnect,
            next_answer,
            session_day,
        )
        await asyncio.wait_for(self._log_on(), _CONNECT_TIMEOUT)
        self._runner = asyncio.create_task(self._run())
        ready = asyncio.create_task(self._ready.wait())
        await asyncio.wait({ready, self._runner}, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            ready.cancel()
            raise self._failure or SessionError("the connection ended during the logon")
        return self

    # What is known.

    @property
    def instruments(self) -> dict[str, wire.InstrumentDefinition]:
        """What the session may trade, by name."""
        return self._instruments

    @property
    def orders(self) -> list[Order]:
        """The client's open orders."""
        return [each for each in self._orders.values() if not each.is_over]

    @property
    def next_answer(self) -> int:
        """The number of the venue's next message, for a client that continues the session later."""
        return self._next_answer

    @property
    def session_day(self) -> int:
        """The numbering to which `next_answer` belongs."""
        return self._session_day

    @property
    def gaps(self) -> list[wire.ResendGap]:
        """Missed messages that the venue no longer had."""
        return self._gaps

    @property
    def is_connected(self) -> bool:
        """Whether the session has a connection."""
        return self._writer is not None

    # Requests.

    async def buy(self, instrument: str, quantity: SupportsIndex, price: Price | None = None, **terms: object) -> Order:
        """Enters an order to buy; see `enter`."""
        return await self.enter("buy", instrument, quantity, price, **terms)  # type: ignore[arg-type]

    async def sell(self, instrument: str, quantity: SupportsIndex, price: Price | None = None, **terms: object) -> Order:
        """Enters an order to sell; see `enter`."""
        return await self.enter("sell", instrument, quantity, price, **terms)  # type: ignore[arg-type]

    async def enter(
        self,
        side: str,
        instrument: str,
        quantity: SupportsIndex,
        price: Price | None = None,
        *,
        time_in_force: str = "",
        order_type: str = "",
        trigger_price: Price | None = None,
        display_quantity: SupportsIndex = 0,
        minimum_quantity: SupportsIndex = 0,
        post_only: bool = False,
        stays: bool = False,
        client_order: SupportsIndex | None = None,
    ) -> Order:
        """Enters an order, and returns when the venue has answered.

        Parameters
        ----------
        side
            ``"buy"`` or ``"sell"``.
        instrument, quantity, price
            Name, units, and the limit; a market order without one.
        time_in_force
            ``"day"``, ``"gtc"``, ``"ioc"``, ``"fok"``, ...; day with a price and ioc without one, if left out.
        order_type
            ``"limit"``, ``"market"``, ``"stop"``, ``"stop_limit"``, ...; from price and trigger price, if left out.
        trigger_price
            Of orders that wait.
        display_quantity, minimum_quantity
            Of an iceberg; the least that must trade at once. 0 for none.
        post_only
            Rejected if it would trade at once.
        stays
            Not cancelled when the connection is lost.
        client_order
            A number of your own, different for each open order of the account.

        Raises
        ------
        ValueError
            An argument is out of its range, or an order of this client with this `client_order` is not over.
        Rejected
            The venue rejects the order.
        """
        definition = self._instrument(instrument)
        chosen_side = _choice("side", side, wire.Side)
        triggers = trigger_price is not None
        types = {(False, False): "market", (True, False): "limit", (False, True): "stop", (True, True): "stop_limit"}
        kind = _choice("order_type", order_type or types[price is not None, triggers], wire.OrderType)
        tif = _choice("time_in_force", time_in_force or _usual_time(kind), wire.TimeInForce)
        flags = wire.OrderFlags(0)
        if post_only:
            flags |= wire.OrderFlags.POST_ONLY
        if stays:
            flags |= wire.OrderFlags.STAYS
        number = self._new_client_order() if client_order is None else _positive("client_order", client_order, _CLIENT_ORDER_MOST)
        if self._failure is not None:
            raise self._failure
        if number in self._orders:
            raise ValueError(f"client_order={number}: {self._orders[number].describe()} has this number and is not over; give another one")
        order = Order(
            instrument, side, _positive("quantity", quantity, _QUANTITY_MOST), None if price is None else nano("price", price) / 1e9, number
        )
        message = wire.EnterOrder(
            client_order=number,
            price=None if price is None else nano("price", price),
            quantity=order.quantity,
            instrument=definition.instrument,
            side=chosen_side,
            order_type=kind,
            time_in_force=tif,
            order_flags=flags,
            trigger_price=None if trigger_price is None else nano("trigger_price", trigger_price),
            display_quantity=_or_none("display_quantity", display_quantity),
            minimum_quantity=_or_none("minimum_quantity", minimum_quantity),
        )
        await self._answer(message, order)
        return order

    async def amend(
        self, order: Order, *, price: Price | None = None, quantity: SupportsIndex | None = None
    ) -> Order:
        """Changes price or total quantity of an open order. Less quantity at the same price keeps its priority.

        Raises
        ------
        Rejected
            The venue rejects the change; the order stays as it was, or is over.
        """
        if price is None and quantity is None:
            raise ValueError("amend: give a price, a quantity, or both")
        # What an amend under way asks for is what this one leaves as it is.
        latest = order._amends[-1] if order._amends else _Amend(order.quantity, None if order.price is None else nano("price", order.price))
        limit = nano("price", price) if price is not None else latest.limit
        total = latest.quantity if quantity is None else _positive("quantity", quantity, _QUANTITY_MOST)
        message = wire.AmendOrder(
            client_order=order.client_order,
            order=order.id,
            price=limit,
            quantity=total,
            instrument=self._instrument(order.instrument).instrument,
        )
        await self._answer(message, order, _Amend(total, limit))
        return order

    async def cancel(self, order: Order) -> Order:
        """Cancels an open order.

        Raises
        ------
        Rejected
            It was filled or cancelled before.
        """
        message = wire.CancelOrder(
            client_order=order.client_order,
            order=order.id,
            instrument=self._instrument(order.instrument).instrument,
        )
        await self._answer(message, order)
        return order

    async def cancel_all(self, instrument: str | None = None, *, side: str = "both", session_only: bool = False) -> int:
        """Cancels open orders of the account.

        Parameters
        ----------
        instrument
            Only orders of this instrument.
        side
            ``"buy"``, ``"sell"`` or ``"both"``.
        session_only
            Only orders that this session entered.

        Returns
        -------
        int
            How many were cancelled.
        """
        message = wire.CancelOrders(
            instrument=0 if instrument is None else self._instrument(instrument).instrument,
            cancel_scope=wire.CancelScope.SESSION if session_only else wire.CancelScope.ACCOUNT,
            cancel_sides=_choice("side", side, wire.CancelSides),
        )
        try:
            answers = await self._answer(message)
        except Rejected as e:
            if e.reason == wire.RejectReason.NOTHING_TO_CANCEL:
                return 0
            raise
        return sum(isinstance(each, wire.OrderCancelled) for each in answers)

    async def open_orders(self) -> list[wire.OrderStatus]:
        """The account's open orders as the venue has them, whichever session entered them."""
        found: list[wire.OrderStatus] = []
        behind = 0
        while True:
            flags = wire.QueryFlags.BEHIND if behind else wire.QueryFlags(0)
            answers = await self._answer(wire.QueryOrder(order=behind, query_flags=flags | wire.QueryFlags.ALL_OF_ACCOUNT))
            behind = 0
            for each in answers:
                if isinstance(each, wire.OrderStatus):
                    if not each.flags & wire.EventFlags.ONLY_A_PLACE:
                        found.append(each)
                    if each.flags & wire.EventFlags.MORE_BEHIND:
                        behind = each.order
            if not behind:
                return found

    async def request(self, message: wire.Message) -> list[Private]:
        """Sends any request, and returns its answers; the last one is marked last_of_request.

        Raises
        ------
        Rejected
            The venue rejects it.
        Refused
            The venue does not take the message.
        """
        return await self._answer(message)

    async def messages(self) -> AsyncIterator[Private]:
        """All private messages from now on, as they arrive; ends with the session.

        When the client continues a session (`next_answer`), the first call begins with what was missed.
        """
        mine: asyncio.Queue[Private | None] = asyncio.Queue()
        for missed in self._missed or ():
            mine.put_nowait(missed)
        self._missed = None
        if self._failure is not None:
            mine.put_nowait(None)
        self._listeners.append(mine)
        try:
            while (message := await mine.get()) is not None:
                yield message
        finally:
            self._listeners.remove(mine)

    async def close(self) -> None:
        """Logs out."""
        if self._writer is not None and self._runner is not None and not self._logged_out:
            self._logged_out = True
            with contextlib.suppress(ConnectionError):
                self._writer.write(wire.Logout().frame())
                await self._writer.drain()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._runner), 2 * self._heartbeat)
        if self._runner is not None:
            self._runner.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._runner
        self._end(SessionError("the session is closed"))

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        state = "connected" if self.is_connected else "not connected"
        return f"Client(account {self._account}, session {self._session_number}, {state})"

    # The session.

    def _instrument(self, name: str) -> wire.InstrumentDefinition:
        found = self._instruments.get(name)
        if found is None:
            raise ValueError(f'no instrument "{name}"; the session may trade: {", ".join(self._instruments)}')
        return found

    def _new_client_order(self) -> int:
        self._next_client_order += 1
        while self._next_client_order in self._orders:
            self._next_client_order += 1
        return self._next_client_order

    async def _answer(self, message: wire.Message, about: Order | None = None, amend: _Amend | None = None) -> list[Private]:
        """Sends a request and waits for all of its answer. What cannot be encoded leaves nothing behind."""
        if self._failure is not None:
            raise self._failure
        number = self._next_request
        frame = message.frame(number)
        self._next_request += 1
        self._sent.append((number, frame))
        pending = _Pending(
            asyncio.get_running_loop().create_future(),
            client_order=message.client_order if isinstance(message, wire.EnterOrder) else 0,
            about=about,
            amend=amend,
        )
        self._pending[number] = pending
        if about is not None and pending.client_order:
            self._orders[about.client_order] = about
        if about is not None and amend is not None:
            about._amends.append(amend)
        if self._writer is not None:
            self._writer.write(frame)
            self._last_sent = time.monotonic()
            with contextlib.suppress(ConnectionError):
                await self._writer.drain()
        answers = await pending.answered
        if isinstance(answers[-1], wire.OrderRejected):
            raise Rejected(answers[-1].reason, about)
        return answers

    async def _log_on(self) -> None:
        reader, writer = await asyncio.open_connection(*self._address)
        try:
            _, challenge = await _read(reader)
            if isinstance(challenge, wire.Logout):
                raise LoggedOut(challenge.logout_reason)
            if not isinstance(challenge, wire.Challenge):
                raise SessionError("the peer is no venue: its first message is no challenge")
            hello = wire.Hello(
                account=self._account,
                session_number=self._session_number,
                next_sequence=self._next_answer,
                heartbeat_interval_ms=round(self._heartbeat * 1000),
                protocol_version=min(challenge.protocol_version, wire.SCHEMA_VERSION),
                hello_flags=self._flags,
                session_day=self._session_day,
                client_nonce=secrets.token_bytes(16),
            )
            signed = b"corro-logon-1" + challenge.nonce + hello.block()[:_PROOF_OFFSET]
            hello.proof = hmac.new(self._key, signed, hashlib.sha256).digest()
            writer.write(hello.frame())
            _, ack = await _read(reader)
            while isinstance(ack, wire.Reject):
                _, ack = await _read(reader)
            if isinstance(ack, wire.Logout):
                raise LoggedOut(ack.logout_reason)
            if not isinstance(ack, wire.HelloAck):
                raise SessionError("the peer is no venue: it does not answer the logon")
        except BaseException:
            writer.close()
            raise
        self._reader, self._writer = reader, writer
        self._last_sent = self._last_received = time.monotonic()
        self._interval = ack.heartbeat_interval_ms / 1000
        self._definitions_left = ack.instruments_count
        if not self._definitions_left:
            self._ready.set()
        is_new_day = self._session_day != 0 and ack.session_day != self._session_day
        self._session_day = ack.session_day
        self._next_answer = ack.next_sequence
        if is_new_day:
            self._fail_pending(SessionError("the venue has reset the session's numbers; ask for the open orders"))
            self._sent.clear()
            self._next_request = ack.next_request
        elif not self._sent:
            self._next_request = ack.next_request
        else:
            await self._send_again(ack.next_request)

    async def _send_again(self, from_request: int) -> None:
        """Sends what the venue has not taken, under the old numbers; a cancel of no order for what it refused."""
        assert self._writer is not None
        if self._sent and self._sent[0][0] > from_request:
            raise SessionError(f"the venue lacks request {from_request}, which is too old to be sent again")
        for number, frame in self._sent:
            if number >= from_request:
                self._writer.write(wire.CancelOrder().frame(number) if number in self._refused else frame)
        self._next_request = max(self._next_request, from_request)
        await self._writer.drain()

    async def _run(self) -> None:
        """Reads until the session is over; makes lost connections again."""
        while True:
            failure: SessionError
            beats = asyncio.create_task(self._keep_alive())
            try:
                await self._receive()
                return
            except LoggedOut as e:
                failure = e
            except wire.WireError as e:
                failure = SessionError(f"the venue's bytes are not this protocol: {e}")
                failure.__cause__ = e
                self._reconnect = 0
            except (OSError, EOFError) as e:
                failure = SessionError(f"the connection to the venue is lost: {e or type(e).__name__}")
            finally:
                beats.cancel()
                self._disconnect()
            is_final = isinstance(failure, LoggedOut) and failure.reason in _FINAL
            if self._logged_out or not self._reconnect or is_final or not await self._log_on_again():
                self._end(self._failure or failure)
                return

    async def _log_on_again(self) -> bool:
        end = time.monotonic() + self._reconnect
        wait = _BACK_OFF[0]
        while time.monotonic() < end:
            await asyncio.sleep(wait)
            wait = min(2 * wait, _BACK_OFF[1])
            try:
                await asyncio.wait_for(self._log_on(), max(0.1, end - time.monotonic()))
                return True
            except LoggedOut as e:
                if e.reason in _FINAL:
                    self._failure = e
                    return False
            except (OSError, EOFError, asyncio.TimeoutError):
                continue
        return False

    async def _receive(self) -> None:
        reader = self._reader
        assert reader is not None
        while True:
            sequence, message = await _read(reader)
            self._last_received = time.monotonic()
            if isinstance(message, wire.Heartbeat):
                if message.test_id:
                    self._send_now(wire.Heartbeat(echo_id=message.test_id))
            elif isinstance(message, wire.Logout):
                raise LoggedOut(message.logout_reason)
            elif isinstance(message, wire.LogoutAck):
                return
            elif isinstance(message, wire.InstrumentDefinition):
                self._instruments[message.symbol] = message
                self._definitions_left -= 1
                if self._definitions_left == 0:
                    self._ready.set()
            elif isinstance(message, wire.ResendGap):
                self._gaps.append(message)
            elif isinstance(message, wire.Reject):
                self._take_reject(message)
            elif sequence:
                if sequence > self._next_answer:
                    raise wire.WireError(f"message {self._next_answer} is missing: {sequence} came")
                if sequence == self._next_answer:
                    self._next_answer += 1
                    self._take(cast("Private", message))

    async def _keep_alive(self) -> None:
        """Heartbeats, and the end of a connection whose peer is silent."""
        while True:
            await asyncio.sleep(self._interval / 4)
            now = time.monotonic()
            if now - self._last_received > 2.25 * self._interval:
                if self._writer is not None:
                    self._writer.transport.abort()
                return
            if now - self._last_sent >= 0.75 * self._interval:
                self._send_now(wire.Heartbeat())

    def _send_now(self, message: wire.Message) -> None:
        if self._writer is not None:
            self._writer.write(message.frame())
            self._last_sent = time.monotonic()

    def _disconnect(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _end(self, failure: SessionError) -> None:
        self._disconnect()
        if self._failure is None:
            self._failure = failure
        self._fail_pending(self._failure)
        for each in self._listeners:
            each.put_nowait(None)
        for order in self._orders.values():
            order._failure = self._failure
            order._ended.set()

    def _fail_pending(self, failure: Exception) -> None:
        for pending in self._pending.values():
            pending.leave()
            if not pending.answered.done():
                pending.answered.set_exception(failure)
                pending.answered.exception()  # marks it as seen: perhaps no task waits for it
        self._pending.clear()

    # Answers.

    def _take_reject(self, message: wire.Reject) -> None:
        self._refused.add(message.refused_sequence)
        pending = self._pending.pop(message.refused_sequence, None)
        if pending is None:
            return
        pending.leave()
        if pending.about is not None and pending.client_order:
            self._settle(pending.about, "rejected", "refused")
        if not pending.answered.done():
            pending.answered.set_exception(Refused(message))

    def _take(self, message: Private) -> None:
        self._update(message)
        number = getattr(message, "request", 0)
        if not number and isinstance(message, wire.OrderExecuted) and message.flags & wire.EventFlags.AGGRESSOR:
            number = next((n for n, each in self._pending.items() if each.client_order == message.client_order), 0)
        pending = self._pending.get(number)
        if pending is not None:
            pending.answers.append(message)
            if message.flags & wire.EventFlags.LAST_OF_REQUEST:
                del self._pending[number]
                pending.leave()
                if not pending.answered.done():
                    pending.answered.set_result(pending.answers)
        if self._missed is not None:
            self._missed.append(message)
        for each in self._listeners:
            each.put_nowait(message)

    def _update(self, message: Private) -> None:
        """What a message tells of an order of this client."""
        order = self._orders.get(getattr(message, "client_order", 0))
        if order is None or getattr(message, "account", 0) != self._account:
            return
        if isinstance(message, (wire.OrderEntered, wire.OrderAmended, wire.OrderStatus)):
            order.id = message.order
            order.open = message.quantity
            order.status = "open"
            if isinstance(message, wire.OrderAmended):
                order.quantity = message.quantity + order.filled
            if message.price is not None:
                order.price = message.price / 1e9
        elif isinstance(message, wire.OrderExecuted):
            order.id = message.order
            order.open = message.leaves
            is_aggressor = bool(message.flags & wire.EventFlags.AGGRESSOR)
            order.fills.append(Fill((message.price or 0) / 1e9, message.quantity, message.time, is_aggressor))
            if not message.leaves:
                self._settle(order, "filled", "")
        elif isinstance(message, wire.OrderCancelled):
            order.id = message.order
            self._settle(order, "cancelled", _reason(message.reason))
        elif isinstance(message, wire.OrderRejected) and order.status == "sent":
            # A reject of an amend or a cancel leaves an order as it is.
            self._settle(order, "rejected", _reason(message.reason))

    def _settle(self, order: Order, status: str, reason: str) -> None:
        order.open = 0
        order.status = status
        order.reason = reason
        order._ended.set()
        if self._orders.get(order.client_order) is order:
            del self._orders[order.client_order]


def _reason(reason: wire.RejectReason) -> str:
    return "" if reason == wire.RejectReason.NONE else reason.name.lower()


def _usual_time(kind: wire.OrderType) -> str:
    return "ioc" if kind in (wire.OrderType.MARKET, wire.OrderType.MARKET_TO_LIMIT) else "day"


def _positive(argument: str, value: SupportsIndex, most: int = 2**32 - 1) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{argument}={value!r}: give an int") from None
    if isinstance(value, bool) or number < 1:
        raise ValueError(f"{argument}={value!r}: give a number above 0")
    if number > most:
        raise ValueError(f"{argument}={value!r}: give a number up to {most:,}")
    return number


def _or_none(argument: str, value: SupportsIndex) -> int:
    """A quantity, or 0 for none."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{argument}={value!r}: give an int") from None
    if not 0 <= number <= _QUANTITY_MOST:
        raise ValueError(f"{argument}={value!r}: give a number from 0 to {_QUANTITY_MOST:,}")
    return number


def _choice(argument: str, value: str, of: type[_Choice]) -> _Choice:
    if isinstance(value, of):
        return value
    if isinstance(value, str) and value.upper() in of.__members__:
        return of[value.upper()]
    known = ", ".join(f'"{each.name.lower()}"' for each in of)
    raise ValueError(f"{argument}={value!r}; there are {known}")


def address_of(venue: Venue | Address | str) -> Address:
    if isinstance(venue, Venue):
        return venue.order_entry
    if isinstance(venue, str):
        host, _, port = venue.rpartition(":")
        if host and port.isdigit():
            return host.strip("[]"), int(port)
        raise ValueError(f'venue="{venue}": give "host:port"')
    host, port_number = venue
    return host, port_number


def _credentials(venue: object, account: str | Account | int, key: str | bytes | None) -> tuple[int, bytes]:
    if isinstance(account, str):
        if not isinstance(venue, Venue):
            raise ValueError(f'account="{account}": names are for a Venue; give the number of the account, and its key')
        if account not in venue.accounts:
            raise ValueError(f'no account "{account}"; the venue has: {", ".join(venue.accounts)}')
        account = venue.accounts[account]
    if isinstance(account, Account):
        number, secret = account.id, key or account.key
    else:
        if key is None:
            raise ValueError("key: an account's number needs its key, 64 hexadecimal digits")
        number, secret = _positive("account", account), key
    if isinstance(secret, str):
        try:
            secret = bytes.fromhex(secret)
        except ValueError:
            raise ValueError("key: give 64 hexadecimal digits, or 32 bytes") from None
    if len(secret) != 32:
        raise ValueError(f"key: {len(secret)} bytes; give 64 hexadecimal digits, or 32 bytes")
    return number, secret


async def _read(reader: asyncio.StreamReader) -> tuple[int, wire.Message]:
    """The next message, with its sequence."""
    try:
        header = await reader.readexactly(wire.HEADER.size)
        length, template, schema, version, sequence = wire.HEADER.unpack(header)
        if schema != wire.SCHEMA_ID or version == 0 or length % 8 or length > _BLOCK_MOST:
            raise wire.WireError("the header is not one of Corro Binary")
        block = await reader.readexactly(length)
    except asyncio.IncompleteReadError:
        raise EOFError("the venue closed the connection") from None
    kind = wire.MESSAGES.get(template)
    if kind is None:
        raise wire.WireError(f"no message has template id {template}")
    if length < kind.LAYOUT.size:
        raise wire.WireError(f"{kind.NAME}: the block is too short")
    return sequence, kind.read(block)
