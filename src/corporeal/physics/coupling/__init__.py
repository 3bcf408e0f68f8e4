"""Skeleton–skin coupling: how posed bones carry inner vertices (Komaritzan 2022, section 3.2.3)."""
