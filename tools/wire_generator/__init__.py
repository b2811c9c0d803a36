"""Makes the codec, the specification page and the dissector of the Corro Binary protocol from its FIX SBE schema."""
