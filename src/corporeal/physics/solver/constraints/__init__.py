"""Potentials of the form w/2 ‖Q z − p‖² (equation 2.10), one file each."""
