package dev.tollgate.bench.compare;

import dev.tollgate.bench.contenders.Contender;
import dev.tollgate.bench.contenders.Wire;
import java.util.ArrayList;
import java.util.List;

/** What a contender did in one case, round by round. */
final class Measured {
  private final Delay delay;
  private final Case of;
  private final Contender contender;
  private final List<Long> nanos = new ArrayList<>();
  private final List<Double> perSecond = new ArrayList<>();
  private Wire wire = Wire.NONE;
  private long cpuNanos;
  private long admitted;
  private long failures;
  private double seconds;
  private long excess;

  Measured(Delay delay, Case of, Contender contender) {
    this.delay = delay;
    this.of = of;
    this.contender = contender;
  }

  /**
   * Adds a round.
   *
   * @param passed the requests of the round
   * @param cpu the processor time of this process without the relays
   */
  void add(Calls calls, Wire passed, long cpu) {
    List<Decision> decisions = calls.decisions();
    decisions.forEach(decision -> nanos.add(decision.nanos()));
    admitted += decisions.stream().filter(Decision::admitted).count();
    failures += calls.failures();
    perSecond.add(
        contender.isInProcess() && !decisions.isEmpty()
            ? decisions.size() / calls.seconds()
            : calls.perSecond());
    seconds += calls.seconds();
    wire = wire.plus(passed);
    cpuNanos += cpu;
    if (of.outcome() == Case.Outcome.DRAINED) {
      excess =
          Math.max(
              excess,
              OverAdmission.of(
                  decisions, contender.terms(of.outcome().purpose()), contender.tokens()));
    }
  }

  Contender contender() {
    return contender;
  }

  Case of() {
    return of;
  }

  Figure figure(Prices prices) {
    List<Long> sorted = nanos.stream().sorted().toList();
    List<Double> rates = perSecond.stream().sorted().toList();
    int count = sorted.size();
    return new Figure(
        delay,
        of,
        contender.name(),
        count,
        admitted,
        failures,
        seconds,
        perSecond.size(),
        wire.total(),
        quantile(sorted, 0.5),
        quantile(sorted, 0.99),
        rates.isEmpty() ? 0 : rates.get(rates.size() / 2),
        count == 0 ? 0 : cpuNanos / 1e3 / count,
        prices.perMillion(contender, wire, count, admitted),
        excess,
        contender.slack(of.outcome().purpose()));
  }

  /** Nearest rank, in milliseconds. */
  private static double quantile(List<Long> sorted, double share) {
    return sorted.isEmpty() ? 0 : sorted.get((int) Math.ceil(share * sorted.size()) - 1) / 1e6;
  }
}
