package dev.tollgate.bench.scale;

import dev.tollgate.bench.Panels;
import dev.tollgate.bench.scale.Aws.Service;
import dev.tollgate.bench.scale.Hour.Plan;
import dev.tollgate.bench.scale.Hour.Storm;
import dev.tollgate.core.bucket.FillMode;
import java.awt.BasicStroke;
import java.awt.Color;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * The figure: above, how much of each quota is asked for at each size; below, how fast clients come
 * back in the first storm, with and without shared credentials.
 */
final class Drawing {
  private static final int WIDTH = 860;
  private static final int HEIGHT = 400;

  /** Quotas of which less than so many percent are asked for at each size are not drawn. */
  private static final double LEAST = 50;

  private static final Color QUOTA = new Color(0x8C, 0x1D, 0x18);
  private static final Color[] COLORS = {
    new Color(0x0B, 0x5C, 0xAD),
    new Color(0xC4, 0x4E, 0x11),
    new Color(0x2E, 0x7D, 0x32),
    new Color(0x6A, 0x3F, 0xA0),
    new Color(0x00, 0x83, 0x8F),
    new Color(0x9E, 0x7B, 0x00),
    new Color(0x5D, 0x40, 0x37),
    new Color(0x60, 0x6C, 0x76)
  };

  private Drawing() {}

  /**
   * The figure as SVG.
   *
   * @param hours at least one with {@link FillMode#SHARED} and shared credentials
   */
  static String svg(List<Hour> hours) {
    List<XYChart> panels = new ArrayList<>();
    panels.add(quotas(hours));
    hours.stream()
        .filter(hour -> isShared(hour) && !hour.plan().shareCredentials())
        .max(Comparator.comparing(hour -> hour.plan().tenants()))
        .ifPresent(without -> panels.add(storm(without, hours)));
    return Panels.svg(WIDTH, HEIGHT, panels);
  }

  private static boolean isShared(Hour hour) {
    return hour.plan().mode() == FillMode.SHARED && hour.plan().hasDefaultQuotas();
  }

  private static XYChart quotas(List<Hour> hours) {
    XYChart chart =
        Panels.xy(
            WIDTH,
            HEIGHT,
            "What is asked of a quota in its busiest second, with shareCredentials",
            "tenants",
            "percent of the quota");
    chart.getStyler().setXAxisLogarithmic(true);
    chart.getStyler().setYAxisLogarithmic(true);
    chart.getStyler().setYAxisMin(1.0);
    chart.getStyler().setLegendPosition(LegendPosition.OutsideE);
    Map<String, Map<Double, Double>> percents = new TreeMap<>();
    for (Hour hour : hours) {
      if (isShared(hour) && hour.plan().shareCredentials()) {
        double tenants = hour.plan().tenants();
        for (Service service : Service.values()) {
          Quota quota = hour.world().aws().quota(service);
          if (quota.perSecond() > 0) {
            add(percents, quota.name(), tenants, 100.0 * quota.peak() / quota.perSecond());
          }
        }
        double peak = hour.world().functions().peak();
        add(percents, "Lambda: executions", tenants, 100 * peak / Functions.CONCURRENCY);
      }
    }
    percents.values().removeIf(each -> each.values().stream().noneMatch(one -> one >= LEAST));
    List<Double> sizes =
        percents.values().stream()
            .flatMap(each -> each.keySet().stream())
            .distinct()
            .sorted()
            .toList();
    XYSeries quota =
        chart.addSeries("the quota", sizes, sizes.stream().map(size -> 100.0).toList());
    quota.setMarker(SeriesMarkers.NONE);
    quota.setLineColor(QUOTA);
    quota.setLineStyle(
        new BasicStroke(
            1.5f, BasicStroke.CAP_BUTT, BasicStroke.JOIN_MITER, 1, new float[] {6, 4}, 0));
    percents.forEach(
        (name, percent) -> {
          XYSeries series =
              chart.addSeries(
                  name.replace("`", ""),
                  List.copyOf(percent.keySet()),
                  List.copyOf(percent.values()));
          Color color = COLORS[(chart.getSeriesMap().size() - 2) % COLORS.length];
          series.setLineColor(color);
          series.setMarkerColor(color);
          series.setMarker(SeriesMarkers.CIRCLE);
          series.setLineStyle(new BasicStroke(2));
        });
    return chart;
  }

  private static void add(
      Map<String, Map<Double, Double>> percents, String name, double tenants, double percent) {
    percents.computeIfAbsent(name, none -> new TreeMap<>()).put(tenants, Math.max(1, percent));
  }

  private static XYChart storm(Hour without, List<Hour> hours) {
    XYChart chart =
        Panels.xy(
            WIDTH,
            HEIGHT,
            String.format(
                Locale.ROOT,
                "%,d clients of %,d tenants come back after an outage",
                without.sockets(),
                without.plan().tenants()),
            "seconds since the first handshake",
            "clients that are in");
    chart.getStyler().setXAxisMin(0.0);
    chart.getStyler().setLegendPosition(LegendPosition.InsideSE);
    for (Hour hour : hours) {
      Plan plan = hour.plan();
      if (isShared(hour) && plan.tenants() == without.plan().tenants()) {
        Storm first = hour.storms().get(0);
        List<Double> seconds = new ArrayList<>();
        List<Double> in = new ArrayList<>();
        for (int second = 0; second <= Math.ceil(first.lastSeconds()); second++) {
          seconds.add((double) second);
          in.add((double) first.admissions().until(second * SimulatedTime.SECOND));
        }
        XYSeries series =
            chart.addSeries(
                plan.shareCredentials() ? "with shareCredentials" : "without", seconds, in);
        Color color = COLORS[chart.getSeriesMap().size() - 1];
        series.setLineColor(color);
        series.setLineStyle(new BasicStroke(2.5f));
        series.setMarker(SeriesMarkers.NONE);
      }
    }
    return chart;
  }
}
