#!/bin/bash
# Everything that is learned from captured movements, in one go: what ships, and all figures of it.
#   bash benchmarks/dynamics_all.sh dyna.packed.npz dyna_test.packed.npz OUT
# A second call goes on where the first one stopped. A GPU takes some eight minutes.
set -u
cd "$(dirname "$0")/.."
learn=$1 test=$2 out=$3
mkdir -p "$out"
export PYTHONPATH="$PWD/src:${PYTHONPATH:-}" XLA_PYTHON_CLIENT_PREALLOCATE=false
export OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=2
python=${PYTHON:-python3}

cpu() {
  [ -f "$out/dmpl.json" ] || JAX_PLATFORMS=cpu $python tools/build_dynamics.py --takes "$learn" --count 60 \
    --out "$out" > "$out/dmpl.log" 2>&1
}
cases() {
  [ -f "$out/cases/dynamics.json" ] || JAX_PLATFORMS=cpu $python -m corporeal.cli.main evaluate dynamics \
    --learn "$learn" --test "$test" --report "$out/cases" > "$out/cases.log" 2>&1
}
figure5() {
  JAX_PLATFORMS=cpu $python benchmarks/neural_figures.py "$learn" --figures 5 --steps 600 --minutes 7 \
    --out "$out/figure5.json" > "$out/figure5.log" 2>&1
}
figure7() {
  $python benchmarks/neural_figures.py "$learn" --figures 7 --steps 800 --minutes 6 \
    --device gpu --out "$out/figure7.json" > "$out/figure7.log" 2>&1
}
networks() {
  hybrid="$python benchmarks/neural_hybrid.py $learn $test --out $out/hybrid"
  JAX_PLATFORMS=cpu $hybrid --autoregression-only > "$out/autoregression.log" 2>&1 &
  $hybrid --minutes 3 --choose-only > "$out/choice.log" 2>&1
  wait
  $hybrid --minutes 0.01 > "$out/hybrid.log" 2>&1 &
  [ -f "$out/neural.json" ] || $python tools/build_neural.py "$learn" \
    --settings "$out/hybrid/chosen.json" --out "$out" > "$out/neural.log" 2>&1
  wait
}
cpu & cases & figure5 & figure7 & networks &
wait
tail -n 3 "$out"/*.log
