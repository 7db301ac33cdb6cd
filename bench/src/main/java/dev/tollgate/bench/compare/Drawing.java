package dev.tollgate.bench.compare;

import dev.tollgate.bench.Panels;
import dev.tollgate.bench.contenders.Contenders;
import java.awt.Color;
import java.awt.Font;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.style.CategoryStyler;
import org.knowm.xchart.style.Styler.LegendLayout;
import org.knowm.xchart.style.Styler.LegendPosition;

/**
 * The figure: requests for each admitted decision, and decisions a second, of all contenders that
 * share their state.
 */
final class Drawing {
  private static final int WIDTH = 980;
  private static final int HEIGHT = 340;
  private static final Color[] COLORS = {
    new Color(0x8A, 0xB8, 0xE6), new Color(0xC4, 0x4E, 0x11), new Color(0x0B, 0x5C, 0xAD)
  };

  private Drawing() {}

  /**
   * Writes an SVG file.
   *
   * @throws IllegalArgumentException if nothing was measured with this delay
   * @throws UncheckedIOException if the file cannot be written
   */
  static void write(Delay delay, List<Figure> figures, Path file) {
    Panels.write(svg(delay, figures), file);
  }

  /** The figure as SVG. */
  static String svg(Delay delay, List<Figure> figures) {
    List<String> names =
        Contenders.NAMES.stream()
            .filter(name -> figure(delay, Case.ADMITTED.get(0), name, figures).isPresent())
            .filter(name -> !name.contains("in process") && !name.contains("control"))
            .toList();
    if (names.isEmpty()) {
      throw new IllegalArgumentException(
          "figures with a delay of %s: none (expected: some)".formatted(delay.label()));
    }
    CategoryChart requests =
        chart(
            "Requests for each admitted decision, %s a request".formatted(delay.label()),
            delay,
            names,
            figures,
            Figure::requestsEach);
    // The library refuses logarithmic bars, so the values are logarithms.
    CategoryChart rates =
        chart(
            "Decisions a second, %s a request".formatted(delay.label()),
            delay,
            names,
            figures,
            figure -> Math.log10(Math.max(1, figure.perSecond())));
    rates
        .getStyler()
        .setyAxisTickLabelsFormattingFunction(
            power ->
                power == Math.rint(power)
                    ? String.format(Locale.ROOT, "%,.0f", Math.pow(10, power))
                    : " ");
    return Panels.svg(WIDTH, HEIGHT, List.of(requests, rates));
  }

  private static CategoryChart chart(
      String title,
      Delay delay,
      List<String> names,
      List<Figure> figures,
      ToDoubleFunction<Figure> value) {
    CategoryChart chart =
        new CategoryChartBuilder().width(WIDTH).height(HEIGHT).title(title).build();
    style(chart.getStyler());
    List<String> labels =
        names.stream()
            .map(name -> name.replace("Tollgate, ", "Tollgate ").replace("conditional ", ""))
            .toList();
    for (Case of : Case.ADMITTED) {
      var unused =
          chart.addSeries(
              of.title(),
              labels,
              names.stream()
                  .map(
                      name ->
                          figure(delay, of, name, figures).map(value::applyAsDouble).orElse(0.0))
                  .toList());
    }
    return chart;
  }

  private static Optional<Figure> figure(Delay delay, Case of, String name, List<Figure> figures) {
    return figures.stream()
        .filter(figure -> figure.delay() == delay && figure.of().equals(of))
        .filter(figure -> figure.contender().equals(name))
        .findFirst();
  }

  private static void style(CategoryStyler styler) {
    Panels.style(styler);
    styler.setSeriesColors(COLORS);
    styler.setAvailableSpaceFill(0.8);
    styler.setAxisTickLabelsFont(new Font(Font.SANS_SERIF, Font.PLAIN, 11));
    styler.setLegendPosition(LegendPosition.OutsideS);
    styler.setLegendLayout(LegendLayout.Horizontal);
  }
}
