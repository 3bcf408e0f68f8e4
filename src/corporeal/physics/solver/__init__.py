"""Projective Dynamics (Komaritzan 2022, section 2.2): implicit steps by local projections and one
matrix.

The matrix κ M_f + Q_fᵀ W Q_f is sparse, symmetric positive definite, and constant while topology,
masses, stiffness and step are; it is factored once.
"""
