"""Bad input of every kind, by the thousand: `python -m hardening.bad_input`."""
