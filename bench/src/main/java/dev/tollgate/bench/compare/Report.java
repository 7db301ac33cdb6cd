package dev.tollgate.bench.compare;

import dev.tollgate.bench.contenders.Contender.Purpose;
import dev.tollgate.bench.contenders.Contenders;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The figures of a run as Markdown tables. */
final class Report {
  private static final String NONE = "not measured";

  private final List<Figure> figures;
  private final List<String> lines = new ArrayList<>();

  private Report(List<Figure> figures) {
    this.figures = figures;
  }

  /** The tables, with a heading each. */
  static List<String> lines(List<Figure> figures) {
    Report report = new Report(figures);
    for (Delay delay : Delay.values()) {
      report.times(delay, Case.ADMITTED, "Admitted");
      report.times(delay, Case.REFUSED, "Refused");
    }
    report.drained();
    report.handshakes();
    report.heading("Goals");
    report.lines.addAll(Goals.of(figures).lines());
    return List.copyOf(report.lines);
  }

  private void heading(String text) {
    if (!lines.isEmpty()) {
      lines.add("");
    }
    lines.add("### " + text);
    lines.add("");
  }

  private void times(Delay delay, List<Case> cases, String outcome) {
    heading("%s, %s a request".formatted(outcome, delay.label()));
    lines.add(
        row(
            Stream.concat(
                Stream.concat(Stream.of("contender"), cases.stream().map(Case::title)),
                Stream.of("CPU ms", "$ a million"))));
    lines.add(row(Stream.generate(() -> "---").limit(cases.size() + 3)));
    for (String name : Contenders.NAMES) {
      if (name.equals(Contenders.CHECK_THEN_ACT)) {
        continue;
      }
      Optional<Figure> last = figure(delay, cases.get(cases.size() - 1), name);
      lines.add(
          row(
              Stream.concat(
                  Stream.concat(Stream.of(name), cases.stream().map(of -> cell(delay, of, name))),
                  Stream.of(
                      last.map(figure -> decimals(3, figure.cpuMicros() / 1e3)).orElse(NONE),
                      last.map(Report::dollars).orElse(NONE)))));
    }
  }

  private String cell(Delay delay, Case of, String name) {
    Optional<Figure> measured = figure(delay, of, name);
    if (measured.isEmpty() || measured.get().decisions() == 0) {
      return NONE;
    }
    Figure figure = measured.get();
    String p99 = figure.decisions() < Figure.ENOUGH ? "–" : decimals(figure.p99Millis());
    return "%s; %s, %s; %s (%s)"
        .formatted(
            decimals(2, figure.requestsEach()),
            decimals(figure.p50Millis()),
            p99,
            String.format(Locale.ROOT, "%,.0f", figure.perSecond()),
            figure(delay, of, Contenders.UPDATE_ITEM)
                .map(base -> ratio(figure.perSecond() / base.perSecond()))
                .orElse("–"));
  }

  private static String dollars(Figure figure) {
    if (Contenders.ON_REDIS.contains(figure.contender())) {
      return "by the hour";
    }
    return figure.dollars().isEmpty() ? "–" : decimals(2, figure.dollars().getAsDouble());
  }

  private void drained() {
    heading("Draining a bucket: 16 callers, one key");
    lines.add(
        "| contender | capacity, a minute | asked | admitted | seconds | in excess | documented |");
    lines.add("| --- | --- | --- | --- | --- | --- | --- |");
    for (String name : Contenders.NAMES) {
      Optional<Figure> measured = figure(Delay.FIXED, Case.DRAINED, name);
      lines.add(
          measured.isEmpty()
              ? row(Stream.of(name, NONE, "", "", "", "", ""))
              : row(
                  Stream.of(
                      name,
                      terms(name),
                      String.format(Locale.ROOT, "%,d", measured.get().decisions()),
                      admitted(measured.get()),
                      decimals(2, measured.get().seconds()),
                      String.valueOf(measured.get().excess()),
                      String.valueOf(measured.get().slack()))));
    }
  }

  private static String terms(String name) {
    return name.equals(Contenders.GUAVA)
        ? "60, 3,600"
        : "%d, %.0f"
            .formatted(Purpose.DRAINED.terms().capacity(), Purpose.DRAINED.terms().perMinute());
  }

  private static String admitted(Figure figure) {
    return figure.contender().equals(Contenders.TEN)
        ? "%d × 10".formatted(figure.admitted())
        : String.format(Locale.ROOT, "%,d", figure.admitted());
  }

  private void handshakes() {
    heading("The whole handshake");
    lines.add("| delay | handshake | requests | p50, p99 ms | time, to the sample's |");
    lines.add("| --- | --- | --- | --- | --- |");
    for (Delay delay : Delay.values()) {
      for (String who : List.of(Handshakes.TOLLGATE, Handshakes.SAMPLE)) {
        Optional<Figure> measured = figure(delay, Case.HANDSHAKE, who);
        Optional<Figure> sample = figure(delay, Case.HANDSHAKE, Handshakes.SAMPLE);
        if (measured.isEmpty() || sample.isEmpty()) {
          lines.add(row(Stream.of(delay.label(), who, NONE, "", "")));
          continue;
        }
        lines.add(
            row(
                Stream.of(
                    delay.label(),
                    who,
                    decimals(2, measured.get().requestsEach()),
                    decimals(measured.get().p50Millis())
                        + ", "
                        + (measured.get().decisions() < Figure.ENOUGH
                            ? "–"
                            : decimals(measured.get().p99Millis())),
                    ratio(measured.get().p50Millis() / sample.get().p50Millis()))));
      }
    }
  }

  private Optional<Figure> figure(Delay delay, Case of, String contender) {
    return figures.stream()
        .filter(figure -> figure.delay() == delay && figure.of().equals(of))
        .filter(figure -> figure.contender().equals(contender))
        .findFirst();
  }

  private static String ratio(double ratio) {
    return (ratio >= 100
            ? String.format(Locale.ROOT, "%,.0f", ratio)
            : decimals(ratio >= 10 ? 0 : 2, ratio))
        + " ×";
  }

  /** Three digits or so: {@code 0.004}, {@code 5.3}, {@code 114}. */
  private static String decimals(double value) {
    return decimals(value < 0.1 ? 4 : value < 100 ? 1 : 0, value);
  }

  private static String decimals(int digits, double value) {
    return String.format(Locale.ROOT, "%." + digits + "f", value);
  }

  private static String row(Stream<String> cells) {
    return cells.collect(Collectors.joining(" | ", "| ", " |"));
  }
}
