"""Fast Projective Skinning (Komaritzan 2022, chapter 3): flesh on a moving skeleton, as a
simulation that is stepped live and as the deformer `projective`."""
