package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.faults.Fault;
import dev.tollgate.local.faults.Faults.Injection;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.XYSeries;
import org.knowm.xchart.style.Styler.LegendLayout;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.markers.SeriesMarkers;
import software.amazon.awssdk.services.cloudwatch.CloudWatchClient;
import software.amazon.awssdk.services.cloudwatch.model.Dimension;
import software.amazon.awssdk.services.cloudwatch.model.MetricDataQuery;
import software.amazon.awssdk.services.cloudwatch.model.MetricDataResult;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * The dashboard of the template after an hour with one incident of each kind. It draws the
 * dashboard, too: {@code -Dscreenshots=} names the target directory in the repository.
 */
@Tag("nightly")
final class DashboardIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path DIRECTORY =
      Path.of("..").resolve(System.getProperty("screenshots", "target/screenshots"));

  /** Pixels of one of the 24 columns of a dashboard, and of a row. */
  private static final int COLUMN = 55;

  private static final int ROW = 36;

  @AutoClose private final LocalDeployment deployment = LocalDeployment.own();

  @AutoClose
  private final CloudWatchClient cloudWatch = deployment.inspect(CloudWatchClient.builder());

  private int messages;
  private final Map<String, String> sessions = new LinkedHashMap<>();

  /**
   * A graph of the dashboard.
   *
   * @param lines the data points by the label of their line
   */
  private record Graph(String title, int x, int y, int width, int height, Map<String, Line> lines) {
    boolean isEmpty() {
      return lines.values().stream().allMatch(line -> line.values().isEmpty());
    }
  }

  /**
   * The data points of a metric.
   *
   * @param minutes when, in minutes since the start
   */
  private record Line(List<Double> minutes, List<Double> values) {}

  @Test
  void each_graph_shows_something_after_an_hour_of_incidents() throws Exception {
    Instant start = deployment.clock().instant().truncatedTo(ChronoUnit.MINUTES);
    List.of("acme", "globex", "initech").forEach(this::onboard);
    deployment.control("PUT", "/tiers/timid", TIMID);
    List.of("hasty", "hurried").forEach(tenant -> deployment.onboard(tenant, "timid", "{}"));
    minutes(8);
    for (int i = 0; i < 4; i++) {
      storm("acme", 60);
      minutes(1);
    }
    minutes(3);
    try (Injection outage =
        refuse(
            call -> call.service().equals("sqs") && isOneOf(call, "Authorizer", "TokenProducer"))) {
      minutes(5);
      assertThat(outage.count()).isPositive();
    }
    minutes(4);
    // Functions have credentials for the others.
    onboard("umbrella");
    try (Injection denial = refuse(call -> call.operation().equals("AssumeRole"))) {
      minutes(4);
      assertThat(denial.count()).isPositive();
    }
    minutes(4);
    try (Injection crashes = crash("PoolProcessor")) {
      minutes(9);
      assertThat(crashes.count()).isPositive();
    }
    minutes(2);
    deployment.cloud().faults().delaySchedules(Duration.ofMinutes(2));
    minutes(4);
    deployment.cloud().faults().delaySchedules(Duration.ZERO);
    deployment.cloud().throttle("TokenProducer", true);
    minutes(4);
    deployment.cloud().throttle("TokenProducer", false);
    overwriteCount("globex");
    storm("hasty", 130);
    storm("hurried", 130);
    minutes(10);

    List<Graph> graphs = graphs(start);
    draw(graphs, DIRECTORY.resolve("dashboard.png"));
    assertThat(graphs).hasSizeGreaterThan(15);
    assertThat(graphs).filteredOn(Graph::isEmpty).extracting(Graph::title).isEmpty();
  }

  private static final String TIMID =
      """
      {"tier": "timid", "isolation": "POOL", "retreatAbovePercent": 20, "line": false,
       "limits": {"tenantPerMinute": 60, "sessionPerMinute": 600, "connectionsPerSession": 900,
                  "tenantConnections": 1000, "sessionTTL": 86400, "messagesPerMinute": 60}}""";

  private void onboard(String tenant) {
    deployment.onboard(
        tenant,
        "silver",
        "{\"sessionTTL\":7200,\"sessionPerMinute\":100,\"connectionsPerSession\":50,"
            + "\"tenantPerMinute\":20}");
    sessions.put(tenant, deployment.open(tenant));
  }

  /** Each minute, clients of each tenant connect, send a message and leave. */
  private void minutes(int minutes) throws InterruptedException {
    for (int minute = 0; minute < minutes; minute++) {
      for (String tenant : sessions.keySet()) {
        String query = LocalDeployment.query(tenant, sessions.get(tenant));
        int sockets = 3 + (minute + tenant.length()) % 4;
        for (int i = 0; i < sockets; i++) {
          Handshake socket = deployment.handshake(query).join();
          if (socket.status() == 101) {
            socket.send(
                "{\"action\":\"PooledSQS\",\"id\":\"m" + ++messages + "\",\"message\":\"hello\"}");
          }
          closeIfOpen(socket);
        }
      }
      deployment.advance(Duration.ofMinutes(1));
    }
  }

  private void storm(String tenant, int handshakes) throws InterruptedException {
    String session = deployment.open(tenant);
    List<CompletableFuture<Handshake>> storm =
        IntStream.range(0, handshakes)
            .mapToObj(i -> deployment.handshake(LocalDeployment.query(tenant, session)))
            .toList();
    for (CompletableFuture<Handshake> handshake : storm) {
      closeIfOpen(handshake.join());
    }
  }

  private void closeIfOpen(Handshake handshake) throws InterruptedException {
    if (handshake.status() == 101) {
      deployment.close(handshake);
    }
  }

  private static boolean isOneOf(Call call, String... functions) {
    return List.of(functions).contains(call.principal().name());
  }

  private Injection refuse(Predicate<Call> calls) {
    return deployment
        .cloud()
        .faults()
        .inject(
            calls,
            Integer.MAX_VALUE,
            new Fault.Refused(400, "AccessDenied", "refused by the test"));
  }

  private Injection crash(String function) {
    return deployment
        .cloud()
        .faults()
        .inject(
            call -> isOneOf(call, function),
            Integer.MAX_VALUE,
            new Fault.Interrupted(() -> deployment.cloud().kill(function)));
  }

  private void overwriteCount(String tenant) {
    try (DynamoDbClient tables = deployment.inspect(DynamoDbClient.builder())) {
      tables.updateItem(
          request ->
              request
                  .tableName("TablesLimit")
                  .key(
                      Map.of(
                          "tenantId", AttributeValue.fromS(tenant),
                          "key", AttributeValue.fromS("connections")))
                  .updateExpression("ADD itemCount :wrong")
                  .expressionAttributeValues(Map.of(":wrong", AttributeValue.fromN("12"))));
    }
  }

  /** Reads the dashboard and its metrics as CloudWatch's console does. */
  private List<Graph> graphs(Instant start) throws IOException {
    List<Graph> graphs = new ArrayList<>();
    String body =
        cloudWatch.getDashboard(request -> request.dashboardName("tollgate")).dashboardBody();
    for (JsonNode widget : JSON.readTree(body).path("widgets")) {
      Map<String, Line> lines = new LinkedHashMap<>();
      for (JsonNode metric : widget.at("/properties/metrics")) {
        lines.put(
            metric.get(metric.size() - 1).path("label").asText(),
            line(metric, widget.at("/properties/period").asInt(), start));
      }
      graphs.add(
          new Graph(
              widget.at("/properties/title").asText(),
              widget.path("x").asInt(),
              widget.path("y").asInt(),
              widget.path("width").asInt(),
              widget.path("height").asInt(),
              lines));
    }
    return graphs;
  }

  private Line line(JsonNode metric, int period, Instant start) {
    List<Dimension> dimensions = new ArrayList<>();
    for (int i = 2; i + 1 < metric.size(); i += 2) {
      dimensions.add(
          Dimension.builder()
              .name(metric.get(i).asText())
              .value(metric.get(i + 1).asText())
              .build());
    }
    MetricDataQuery query =
        MetricDataQuery.builder()
            .id("m1")
            .metricStat(
                stat ->
                    stat.period(period)
                        .stat(metric.get(metric.size() - 1).path("stat").asText())
                        .metric(
                            each ->
                                each.namespace(metric.get(0).asText())
                                    .metricName(metric.get(1).asText())
                                    .dimensions(dimensions)))
            .build();
    MetricDataResult data =
        cloudWatch
            .getMetricData(
                request ->
                    request
                        .metricDataQueries(query)
                        .startTime(start)
                        .endTime(deployment.clock().instant()))
            .metricDataResults()
            .get(0);
    return new Line(
        data.timestamps().stream()
            .map(at -> Duration.between(start, at).toSeconds() / 60.0)
            .toList(),
        data.values());
  }

  private static void draw(List<Graph> graphs, Path file) throws IOException {
    int width = graphs.stream().mapToInt(graph -> graph.x() + graph.width()).max().orElse(1);
    int height = graphs.stream().mapToInt(graph -> graph.y() + graph.height()).max().orElse(1);
    BufferedImage image =
        new BufferedImage(width * COLUMN, height * ROW, BufferedImage.TYPE_INT_RGB);
    Graphics2D graphics = image.createGraphics();
    for (Graph graph : graphs) {
      graphics.translate(graph.x() * COLUMN, graph.y() * ROW);
      chart(graph).paint(graphics, graph.width() * COLUMN, graph.height() * ROW);
      graphics.translate(-graph.x() * COLUMN, -graph.y() * ROW);
    }
    Files.createDirectories(file.getParent());
    ImageIO.write(image, "png", file.toFile());
  }

  private static XYChart chart(Graph graph) {
    XYChart chart = new XYChartBuilder().title(graph.title()).build();
    XYStyler styler = chart.getStyler();
    styler.setChartBackgroundColor(Color.WHITE);
    styler.setPlotBorderVisible(false);
    styler.setPlotGridVerticalLinesVisible(false);
    styler.setPlotGridLinesColor(new Color(0xDD, 0xE1, 0xE6));
    styler.setChartTitleBoxVisible(false);
    styler.setChartTitleFont(new Font(Font.SANS_SERIF, Font.BOLD, 11));
    styler.setAxisTickLabelsFont(new Font(Font.SANS_SERIF, Font.PLAIN, 10));
    styler.setLegendFont(new Font(Font.SANS_SERIF, Font.PLAIN, 9));
    styler.setLegendPosition(LegendPosition.OutsideS);
    styler.setLegendBorderColor(Color.WHITE);
    styler.setLegendLayout(LegendLayout.Horizontal);
    styler.setLegendPadding(1);
    styler.setLegendSeriesLineLength(8);
    styler.setMarkerSize(3);
    styler.setDecimalPattern("#,##0");
    styler.setXAxisMin(0.0);
    styler.setXAxisMax(60.0);
    styler.setYAxisMin(0.0);
    graph
        .lines()
        .forEach(
            (label, line) -> {
              if (!line.values().isEmpty()) {
                XYSeries series = chart.addSeries(label, line.minutes(), line.values());
                series.setMarker(SeriesMarkers.CIRCLE);
                series.setLineStyle(new BasicStroke(1.5f));
                // A legend of all functions would take the place of the graph.
                series.setShowInLegend(
                    line.values().stream().anyMatch(value -> value != 0)
                        || graph.lines().size() <= 2);
              }
            });
    return chart;
  }
}
