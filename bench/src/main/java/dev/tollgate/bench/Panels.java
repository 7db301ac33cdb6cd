package dev.tollgate.bench;

import de.erichseifert.vectorgraphics2d.Processors;
import de.erichseifert.vectorgraphics2d.VectorGraphics2D;
import de.erichseifert.vectorgraphics2d.util.PageSize;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.internal.chartpart.Chart;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.XYStyler;

/**
 * Figures of charts that stand below each other. They have a light background of their own: dark
 * pages show them, too. They have text as outlines: it needs no fonts.
 */
public final class Panels {
  /** More decimals of a coordinate than can be seen. */
  private static final String DECIMALS = "(\\.\\d{2})\\d+";

  private static final Color TEXT = new Color(0x24, 0x29, 0x2F);
  private static final Color GRID = new Color(0xDD, 0xE1, 0xE6);

  private Panels() {}

  /** Gives a chart the colours and fonts of all figures. */
  public static void style(AxesChartStyler styler) {
    styler.setYAxisMin(0.0);
    styler.setChartBackgroundColor(Color.WHITE);
    styler.setPlotBackgroundColor(Color.WHITE);
    styler.setPlotBorderVisible(false);
    styler.setPlotGridLinesColor(GRID);
    styler.setPlotGridVerticalLinesVisible(false);
    styler.setPlotGridLinesStroke(new BasicStroke(1));
    styler.setChartFontColor(TEXT);
    styler.setChartTitleFont(new Font(Font.SANS_SERIF, Font.BOLD, 16));
    styler.setChartTitleBoxVisible(false);
    styler.setAxisTitleFont(new Font(Font.SANS_SERIF, Font.PLAIN, 13));
    styler.setAxisTickLabelsFont(new Font(Font.SANS_SERIF, Font.PLAIN, 12));
    styler.setAxisTickLabelsColor(TEXT);
    styler.setLegendFont(new Font(Font.SANS_SERIF, Font.PLAIN, 13));
    styler.setLegendBorderColor(Color.WHITE);
  }

  /** A chart of curves or points, in the style of all figures. */
  public static XYChart xy(int width, int height, String title, String x, String y) {
    XYChart chart =
        new XYChartBuilder()
            .width(width)
            .height(height)
            .title(title)
            .xAxisTitle(x)
            .yAxisTitle(y)
            .build();
    XYStyler styler = chart.getStyler();
    style(styler);
    styler.setYAxisLeftWidthHint(60);
    styler.setMarkerSize(7);
    styler.setDecimalPattern("#,##0");
    return chart;
  }

  /** The figure as SVG; each chart is {@code width} wide and {@code height} high. */
  public static String svg(int width, int height, List<? extends Chart<?, ?>> charts) {
    VectorGraphics2D graphics = new VectorGraphics2D();
    for (Chart<?, ?> chart : charts) {
      chart.paint(graphics, width, height);
      graphics.translate(0, height);
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try {
      Processors.get("svg")
          .getDocument(graphics.getCommands(), new PageSize(0, 0, width, height * charts.size()))
          .writeTo(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toString(StandardCharsets.UTF_8).replaceAll(DECIMALS, "$1");
  }

  /**
   * Writes a figure to a file.
   *
   * @throws UncheckedIOException if the file cannot be written
   */
  public static void write(String svg, Path file) {
    try {
      Files.writeString(file, svg);
    } catch (IOException e) {
      throw new UncheckedIOException(file + ": " + e, e);
    }
  }
}
