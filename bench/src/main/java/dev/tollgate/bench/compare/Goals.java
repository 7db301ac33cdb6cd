package dev.tollgate.bench.compare;

import dev.tollgate.bench.Row;
import dev.tollgate.bench.contenders.Contenders;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * What Tollgate must achieve. Requests are judged by what the design allows in the measured time: a
 * row is read once a second for each key, and an empty bucket is asked for once in five seconds.
 */
final class Goals {
  private static final double ROW_SECONDS = 1;
  private static final double EMPTY_SECONDS = 5;

  /** A read of the row, a receive, the queue's level, and a write of what was found. */
  private static final int EMPTY_REQUESTS = 4;

  private static final double QUIET_REQUESTS = 2;
  private static final double HOT_REQUESTS = 0.3;

  private final List<Figure> figures;
  private final List<Row> rows = new ArrayList<>();
  private boolean isKept = true;

  private Goals(List<Figure> figures) {
    this.figures = figures;
  }

  /** Judges the figures of a run. */
  static Goals of(List<Figure> figures) {
    Goals goals = new Goals(figures);
    for (Case admitted : Case.ADMITTED) {
      goals.quietRequests(admitted);
    }
    for (Case admitted : Case.ADMITTED) {
      goals.quietTime(admitted);
    }
    for (Case admitted : Case.ADMITTED) {
      goals.hotRequests(admitted);
    }
    goals.hotRate();
    for (Case refused : Case.REFUSED) {
      goals.refused(refused);
    }
    goals.excess();
    goals.promises();
    return goals;
  }

  private void quietRequests(Case of) {
    Optional<Figure> quiet = figure(of, Contenders.QUIET);
    goal(
        "requests a decision, quiet: " + of.title(),
        quiet.map(figure -> each(figure.requestsEach())),
        "2, and the bucket's row once a second",
        quiet
            .filter(
                figure ->
                    figure.requests()
                        <= QUIET_REQUESTS * figure.decisions() + reads(figure, ROW_SECONDS))
            .isPresent());
  }

  private void quietTime(Case of) {
    Optional<Figure> quiet = figure(of, Contenders.QUIET);
    Optional<Figure> other = figure(of, Contenders.BUCKET4J_DYNAMODB);
    goal(
        "median time, quiet: " + of.title(),
        quiet.map(figure -> millis(figure.p50Millis())),
        other
            .map(figure -> "at most bucket4j's on DynamoDB: " + millis(figure.p50Millis()))
            .orElse(""),
        quiet.isPresent()
            && other.isPresent()
            && quiet.get().p50Millis() <= other.get().p50Millis());
  }

  private void hotRequests(Case of) {
    Optional<Figure> hot = figure(of, Contenders.PREFETCHED);
    goal(
        "requests a decision, prefetched: " + of.title(),
        hot.map(figure -> each(figure.requestsEach())),
        "at most 0.3",
        hot.filter(figure -> figure.requestsEach() <= HOT_REQUESTS).isPresent());
  }

  private void hotRate() {
    Case of = Case.ADMITTED.get(2);
    Optional<Figure> hot = figure(of, Contenders.PREFETCHED);
    Optional<Figure> lua = figure(of, Contenders.LUA);
    if (lua.isEmpty()) {
      rows.add(
          new Row(
              "decisions a second, prefetched: " + of.title(),
              hot.map(figure -> rate(figure.perSecond())).orElse("not measured"),
              "more than the Lua GCRA, which was not measured"));
      return;
    }
    goal(
        "decisions a second, prefetched: " + of.title(),
        hot.map(figure -> rate(figure.perSecond())),
        "more than the Lua GCRA: " + rate(lua.get().perSecond()),
        hot.filter(figure -> figure.perSecond() > lua.get().perSecond()).isPresent());
  }

  private void refused(Case of) {
    Optional<Figure> quiet = figure(of, Contenders.QUIET);
    goal(
        "requests a refusal while the bucket is known to be empty: " + of.title(),
        quiet.map(figure -> each(figure.requestsEach())),
        "none; one look in 5 s, of at most %d requests".formatted(EMPTY_REQUESTS),
        quiet
            .filter(
                figure ->
                    figure.decisions() > 0
                        && figure.requests()
                            <= EMPTY_REQUESTS * figure.of().keys() * times(figure, EMPTY_SECONDS))
            .isPresent());
  }

  /** A row is read by each of the callers that find at the same time that it is too old. */
  private static double reads(Figure figure, double seconds) {
    int together = Math.max(1, figure.of().callers() / figure.of().keys());
    return figure.of().keys() * together * times(figure, seconds);
  }

  /** How often something happens that happens at the start of a round, and once in some time. */
  private static double times(Figure figure, double seconds) {
    return Math.floor(figure.seconds() / seconds) + figure.rounds();
  }

  private void excess() {
    List<Figure> drained =
        figures.stream().filter(figure -> figure.of().equals(Case.DRAINED)).toList();
    List<String> over =
        drained.stream()
            .filter(figure -> !figure.contender().equals(Contenders.CHECK_THEN_ACT))
            .filter(figure -> figure.excess() > figure.slack())
            .map(figure -> "%s: %d".formatted(figure.contender(), figure.excess()))
            .toList();
    goal(
        "tokens admitted beyond the bucket's, and beyond what is documented",
        drained.isEmpty()
            ? Optional.empty()
            : Optional.of(over.isEmpty() ? "none" : String.join(", ", over)),
        "none",
        over.isEmpty());
    boolean seen =
        drained.stream()
            .anyMatch(
                figure ->
                    figure.contender().equals(Contenders.CHECK_THEN_ACT) && figure.excess() > 0);
    goal(
        "tokens admitted beyond the bucket's: the control",
        drained.isEmpty() ? Optional.empty() : Optional.of(seen ? "some" : "none"),
        "some, otherwise this run would not see them",
        seen);
  }

  private void promises() {
    List<String> broken =
        figures.stream()
            .filter(figure -> !figure.isAsPromised())
            .map(
                figure ->
                    "%s, %s, %s, %s: %d of %d admitted, %d failures"
                        .formatted(
                            figure.contender(),
                            figure.delay().label(),
                            figure.of().title(),
                            figure.of().outcome().key(),
                            figure.admitted(),
                            figure.decisions(),
                            figure.failures()))
            .toList();
    goal(
        "decisions other than the case promises, and failures",
        Optional.of(broken.isEmpty() ? "none" : String.join("; ", broken)),
        "none",
        broken.isEmpty());
  }

  private Optional<Figure> figure(Case of, String contender) {
    return figures.stream()
        .filter(figure -> figure.delay() == Delay.FIXED && figure.of().equals(of))
        .filter(figure -> figure.contender().equals(contender))
        .findFirst();
  }

  private void goal(String what, Optional<String> found, String wanted, boolean kept) {
    boolean good = found.isPresent() && kept;
    isKept &= good;
    rows.add(new Row(what, found.orElse("not measured") + (good ? "" : " **missed**"), wanted));
  }

  private static String each(double requests) {
    return String.format(Locale.ROOT, "%.2f", requests);
  }

  private static String millis(double millis) {
    return String.format(Locale.ROOT, "%.1f ms", millis);
  }

  private static String rate(double perSecond) {
    return String.format(Locale.ROOT, "%,.0f", perSecond);
  }

  /** Whether all were kept. */
  boolean isKept() {
    return isKept;
  }

  /** A table of the goals. */
  List<String> lines() {
    return Row.table(rows);
  }
}
