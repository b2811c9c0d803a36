# SPDX-License-Identifier: Apache-2.0
"""Makes the codec, the specification page and the dissector of the Corro Binary protocol from its FIX SBE schema."""
