package dev.tollgate.bench.line;

import dev.tollgate.bench.Panels;
import java.awt.BasicStroke;
import java.awt.Color;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.markers.Marker;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** The figure: above, how often clients tried; below, how long each waited. */
final class Drawing {
  /** The runs that are drawn: with the line and without. */
  static final List<String> RUNS = List.of("line-90", "no-line-90");

  private static final int WIDTH = 860;
  private static final int HEIGHT = 340;
  private static final Color WITH = new Color(0x0B, 0x5C, 0xAD);
  private static final Color WITHOUT = new Color(0xC4, 0x4E, 0x11);

  private Drawing() {}

  /**
   * Writes an SVG file.
   *
   * @param attempts attempts with the runs of the figure
   * @throws IllegalArgumentException if nobody was admitted in one of them
   * @throws UncheckedIOException if the file cannot be written
   */
  static void write(List<Attempt> attempts, Path file) {
    Panels.write(svg(attempts), file);
  }

  /** The figure as SVG. */
  static String svg(List<Attempt> attempts) {
    return Panels.svg(WIDTH, HEIGHT, List.of(attemptsOverTime(attempts), waits(attempts)));
  }

  private static XYChart attemptsOverTime(List<Attempt> attempts) {
    XYChart chart =
        chart(
            "Attempts of %d clients until the last was admitted"
                .formatted(
                    ofRun(RUNS.get(0), attempts).stream().map(Attempt::client).distinct().count()),
            "seconds since the start",
            "attempts, in total");
    for (String run : RUNS) {
      List<Double> x = new ArrayList<>(List.of(0.0));
      List<Double> y = new ArrayList<>(List.of(0.0));
      List<Attempt> made = ofRun(run, attempts);
      for (int i = 0; i < made.size(); i++) {
        // One point for each second is enough.
        long second = made.get(i).sent().toSeconds();
        if (i + 1 == made.size() || made.get(i + 1).sent().toSeconds() > second) {
          x.add(seconds(made.get(i).sent()));
          y.add(i + 1.0);
        }
      }
      style(chart.addSeries(label(run), x, y), run, SeriesMarkers.NONE);
    }
    return chart;
  }

  private static XYChart waits(List<Attempt> attempts) {
    XYChart chart =
        chart("Wait of each client", "clients, in the order of arrival", "seconds until admitted");
    chart.getStyler().setDefaultSeriesRenderStyle(XYSeries.XYSeriesRenderStyle.Scatter);
    // The library would label nearly all of these equally spaced values. It refuses empty labels.
    chart
        .getStyler()
        .setxAxisTickLabelsFormattingFunction(
            client -> Math.round(client) % 10 == 0 ? String.valueOf(Math.round(client)) : " ");
    for (String run : RUNS) {
      List<Attempt> made = ofRun(run, attempts);
      Map<Integer, Duration> admissions = Figures.admissions(made);
      List<Double> x = new ArrayList<>();
      List<Double> y = new ArrayList<>();
      for (Attempt attempt : made) {
        // The first attempt of a client is its arrival.
        double client = attempt.client() + 1.0;
        if (!x.contains(client) && admissions.containsKey(attempt.client())) {
          x.add(client);
          y.add(
              seconds(
                  admissions.getOrDefault(attempt.client(), Duration.ZERO).minus(attempt.sent())));
        }
      }
      style(
          chart.addSeries(label(run), x, y),
          run,
          run.equals(RUNS.get(0)) ? SeriesMarkers.CIRCLE : SeriesMarkers.DIAMOND);
    }
    return chart;
  }

  private static XYChart chart(String title, String x, String y) {
    XYChart chart = Panels.xy(WIDTH, HEIGHT, title, x, y);
    XYStyler styler = chart.getStyler();
    styler.setLegendPosition(LegendPosition.InsideNW);
    styler.setXAxisTickMarkSpacingHint(90);
    styler.setYAxisTickMarkSpacingHint(50);
    styler.setXAxisMin(0.0);
    return chart;
  }

  private static void style(XYSeries series, String run, Marker marker) {
    Color color = run.equals(RUNS.get(0)) ? WITH : WITHOUT;
    series.setLineColor(color);
    series.setLineStyle(new BasicStroke(2.5f));
    series.setMarkerColor(color);
    series.setMarker(marker);
  }

  private static String label(String run) {
    return run.equals(RUNS.get(0)) ? "with the line" : "without the line";
  }

  private static List<Attempt> ofRun(String run, List<Attempt> attempts) {
    List<Attempt> made = attempts.stream().filter(attempt -> attempt.run().equals(run)).toList();
    if (made.stream().noneMatch(Attempt::isAdmitted)) {
      throw new IllegalArgumentException("run " + run + ": nobody admitted (expected: somebody)");
    }
    return made;
  }

  private static double seconds(Duration duration) {
    return duration.toMillis() / 1000.0;
  }
}
