package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.e2e.acceptance.Browser;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.local.cloudwatch.Metric;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.faults.Fault;
import dev.tollgate.local.faults.FaultKind;
import dev.tollgate.local.faults.FaultPlan;
import dev.tollgate.local.faults.Faults.Injection;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.services.cloudwatch.CloudWatchClient;
import software.amazon.awssdk.services.cloudwatch.model.AlarmType;
import software.amazon.awssdk.services.cloudwatch.model.DescribeAlarmsResponse;
import software.amazon.awssdk.services.cloudwatch.model.Dimension;
import software.amazon.awssdk.services.cloudwatch.model.StateValue;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.sqs.SqsClient;

/**
 * The alarms of the template are raised by faults, are on the first page that an operator sees, and
 * end after the faults. {@code -Dincidents=} names a directory of the repository for pictures of
 * that page.
 */
@Tag("nightly")
final class AlarmsIT {
  @AutoClose private static final LocalDeployment DEPLOYMENT = calm();

  @AutoClose
  private static final CloudWatchClient CLOUD_WATCH =
      DEPLOYMENT.inspect(CloudWatchClient.builder());

  @AutoClose private static final Browser BROWSER = Browser.open();

  private String incident = "";

  @BeforeEach
  void name(TestInfo test) {
    incident = test.getTestMethod().orElseThrow().getName();
  }

  /** A deployment whose schedules do not fire after {@code faults().resume()}. */
  private static LocalDeployment calm() {
    LocalDeployment deployment =
        LocalDeployment.sharingCredentials(
            new FaultPlan(1, Map.of(FaultKind.SCHEDULE_MISSED, 1.0), Map.of(), Map.of()));
    deployment.cloud().faults().pause();
    return deployment;
  }

  private static void minutes(int minutes) throws InterruptedException {
    DEPLOYMENT.advance(Duration.ofMinutes(minutes));
  }

  /** The states of all alarms by their names. */
  private static Map<String, StateValue> states() {
    DescribeAlarmsResponse alarms =
        CLOUD_WATCH.describeAlarms(
            request ->
                request
                    .alarmNamePrefix(DEPLOYMENT.outputs().get("AlarmPrefix"))
                    .alarmTypes(AlarmType.METRIC_ALARM, AlarmType.COMPOSITE_ALARM));
    Map<String, StateValue> states = new TreeMap<>();
    alarms.metricAlarms().forEach(alarm -> states.put(alarm.alarmName(), alarm.stateValue()));
    alarms.compositeAlarms().forEach(alarm -> states.put(alarm.alarmName(), alarm.stateValue()));
    return states;
  }

  /** The raised alarms, without the difference between an alarm and the one that sends for it. */
  private static TreeSet<String> raised() {
    TreeSet<String> names = new TreeSet<>();
    states()
        .forEach(
            (name, state) -> {
              if (state == StateValue.ALARM) {
                names.add(name.replace("tollgate-", "").replace("-message", ""));
              }
            });
    return names;
  }

  /**
   * The overview has all raised alarms, each with a sentence that says what is wrong, without those
   * that only repeat another one.
   */
  private void assertSeen() throws IOException {
    JsonNode alarms = DEPLOYMENT.control("GET", "/alarms").body().path("alarms");
    List<String> sentences =
        alarms
            .valueStream()
            .filter(alarm -> alarm.path("state").asText().equals("ALARM"))
            .filter(alarm -> !alarm.path("name").asText().matches(".*-message|services-failing"))
            .map(AlarmsIT::sentence)
            .toList();
    assertThat(sentences).isNotEmpty();
    BROWSER.go("about:blank");
    BROWSER.size(1280, 900).go(DEPLOYMENT.outputs().get("OperatorPage") + "#/overview");
    BROWSER.awaitText(
        ".alerts",
        text ->
            sentences.stream()
                .allMatch(each -> Pattern.compile(each, Pattern.DOTALL).matcher(text).find()));
    String directory = System.getProperty("incidents", "");
    if (!directory.isEmpty()) {
      BROWSER.await("charts are shown", () -> BROWSER.all(".chart canvas").size() == 2);
      Path pictures = Files.createDirectories(Path.of("..").resolve(directory));
      Files.write(pictures.resolve(incident + ".png"), BROWSER.screenshot(1280, 2000));
    }
  }

  private static String sentence(JsonNode alarm) {
    String name = alarm.path("name").asText();
    return name.equals("tier-retreated")
        ? "Tier timid stopped enforcing its limits"
        : name + ".*" + alarm.path("meaning").asText();
  }

  /** The alarms that are raised in some minutes, each of which begins with an action. */
  private TreeSet<String> raisedDuring(int minutes, LocalDeployment.Action action)
      throws Exception {
    TreeSet<String> seen = new TreeSet<>();
    for (int i = 0; i < minutes; i++) {
      action.run();
      minutes(1);
      seen.addAll(raised());
    }
    if (!raised().isEmpty()) {
      assertSeen();
    }
    return seen;
  }

  private static Injection refuse(String error, Predicate<Call> calls) {
    return DEPLOYMENT
        .cloud()
        .faults()
        .inject(calls, Integer.MAX_VALUE, new Fault.Refused(400, error, "refused by the test"));
  }

  /** Onboards a tenant whose tier admits nobody without a token. */
  private static void onboardStrict(String tenant) {
    DEPLOYMENT.control(
        "PUT",
        "/tiers/strict",
        """
        {"tier": "strict", "isolation": "POOL", "onUnavailable": "REFUSE",
         "limits": {"tenantPerMinute": 60, "sessionPerMinute": 60, "connectionsPerSession": 10,
                    "tenantConnections": 100, "sessionTTL": 3600, "messagesPerMinute": 60}}""");
    DEPLOYMENT.onboard(tenant, "strict", "{}");
  }

  private static Handshake handshake(String tenant, String session) {
    return DEPLOYMENT.handshake(LocalDeployment.query(tenant, session)).join();
  }

  /** Passes minutes until no alarm is raised. */
  private static void awaitCalm(int most) throws InterruptedException {
    for (int i = 0; i < most && !raised().isEmpty(); i++) {
      minutes(1);
    }
    assertThat(raised()).isEmpty();
  }

  @Test
  void a_healthy_deployment_raises_no_alarm() throws Exception {
    minutes(31);

    assertThat(states())
        .hasSize(23)
        .allSatisfy((name, state) -> assertThat(state).isEqualTo(StateValue.OK));
    JsonNode listed = DEPLOYMENT.control("GET", "/alarms").body().path("alarms");
    assertThat(listed.findValuesAsText("name"))
        .containsExactlyElementsOf(
            states().keySet().stream().map(name -> name.replace("tollgate-", "")).toList());
    assertThat(listed.findValuesAsText("state")).containsOnly("OK");
    assertThat(listed.findValuesAsText("runbook"))
        .allSatisfy(runbook -> assertThat(Path.of("..").resolve(runbook)).exists());
  }

  @Test
  void a_processor_that_crashes_raises_errors_then_waiting_messages_then_dead_letters()
      throws Exception {
    DEPLOYMENT.onboard("crashing", "silver", "{}");
    Handshake socket = DEPLOYMENT.connect("crashing", DEPLOYMENT.open("crashing"));
    try (Injection crashes =
        DEPLOYMENT
            .cloud()
            .faults()
            .inject(
                call -> call.principal().name().equals("PoolProcessor"),
                1_000,
                new Fault.Interrupted(() -> DEPLOYMENT.cloud().kill("PoolProcessor")))) {
      socket.send("{\"action\":\"PooledSQS\",\"id\":\"m\",\"message\":\"hello\"}");
      TreeSet<String> seen = new TreeSet<>();
      for (int i = 0; i < 15 && !raised().contains("dead-letters"); i++) {
        minutes(1);
        seen.addAll(raised());
      }
      assertThat(crashes.count()).isPositive();
      assertSeen();
      assertThat(seen).contains("dead-letters", "function-errors", "messages-waiting");
    }
    try (SqsClient queues = DEPLOYMENT.inspect(SqsClient.builder())) {
      queues.purgeQueue(
          request ->
              request.queueUrl(
                  queues
                      .getQueueUrl(name -> name.queueName("tollgate_pool_dead.fifo"))
                      .queueUrl()));
    }
    awaitCalm(25);
  }

  @Test
  void work_that_stops_raises_an_alarm_until_it_runs_again() throws Exception {
    DEPLOYMENT.cloud().faults().resume();
    minutes(11);
    DEPLOYMENT.cloud().faults().pause();

    assertThat(raised()).contains("minute-work-stopped");
    assertSeen();

    awaitCalm(10);
  }

  @Test
  void sts_that_denies_raises_failing_credentials_functions_and_messages() throws Exception {
    onboardStrict("denied");
    String denied = DEPLOYMENT.open("denied");
    DEPLOYMENT.onboard("mute", "silver", "{}");
    Handshake socket = DEPLOYMENT.connect("mute", DEPLOYMENT.open("mute"));
    try (Injection denial = refuse("AccessDenied", call -> call.operation().equals("AssumeRole"))) {
      socket.send("{\"action\":\"PooledSQS\",\"id\":\"m\",\"message\":\"hello\"}");
      assertThat(
              raisedDuring(
                  7, () -> assertThat(handshake("denied", denied).status()).isEqualTo(503)))
          .contains(
              "credentials-failing",
              "handshakes-undecided",
              "messages-failing",
              "services-failing");
      assertThat(denial.count()).isPositive();
    }
    awaitCalm(10);
  }

  @Test
  void executions_near_the_quota_raise_quotas_near() throws Exception {
    String session = DEPLOYMENT.open(known("crowded"));
    DEPLOYMENT.cloud().setConcurrencyQuota(20);
    TreeSet<String> seen = raisedDuring(3, () -> crowd(17, session));
    DEPLOYMENT.cloud().setConcurrencyQuota(1_000);

    assertThat(seen).contains("quotas-near");
    awaitCalm(10);
    assertThat(raisedDuring(3, () -> crowd(17, session))).isEmpty();
  }

  /** Lets handshakes run at the same time: their requests hang until they time out. */
  private static void crowd(int handshakes, String session) {
    try (Injection hung =
        DEPLOYMENT
            .cloud()
            .faults()
            .inject(
                call -> call.principal().name().equals("Authorizer"),
                handshakes,
                new Fault.Hung())) {
      IntStream.range(0, handshakes)
          .mapToObj(i -> DEPLOYMENT.handshake(LocalDeployment.query("nobody" + i, session)))
          .toList()
          .forEach(CompletableFuture::join);
      assertThat(hung.count()).isPositive();
    }
  }

  /** The sample is just above the alarm's limit; one less is just not. */
  @ParameterizedTest
  @CsvSource({
    "quotas-near, ConcurrentExecutions, 801",
    "quotas-near, InvocationThrottleCount, 1",
    "quotas-near, Invocations, 24001",
    "functions-slow, Duration, 20001"
  })
  void metric_above_its_limit_raises_an_alarm(String alarm, String name, double above)
      throws Exception {
    Metric metric = metric(alarm, name);
    assertThat(raisedDuring(3, () -> DEPLOYMENT.cloud().record(metric, above)))
        .containsExactly(alarm);
    awaitCalm(10);
    assertThat(raisedDuring(5, () -> DEPLOYMENT.cloud().record(metric, above - 1))).isEmpty();
  }

  @Test
  void tenant_that_cannot_be_offboarded_raises_sweep_behind() throws Exception {
    DEPLOYMENT.onboard("stuck", "silver", "{}");
    try (Injection denial =
        refuse(
            "AccessDenied",
            call ->
                call.operation().equals("DeleteQueue")
                    && List.of("ControlPlane", "Sweep").contains(call.principal().name()))) {
      DEPLOYMENT.control("DELETE", "/tenants/stuck");
      assertThat(raisedDuring(14, () -> {})).isEmpty();
      assertThat(raisedDuring(4, () -> {})).containsExactly("sweep-behind");
      assertThat(denial.count()).isPositive();
    }
    awaitCalm(5);
  }

  /** A metric of an alarm of the template. */
  private static Metric metric(String alarm, String name) {
    return CLOUD_WATCH
        .describeAlarms(request -> request.alarmNames("tollgate-" + alarm))
        .metricAlarms()
        .get(0)
        .metrics()
        .stream()
        .filter(query -> query.metricStat() != null)
        .map(query -> query.metricStat().metric())
        .filter(metric -> metric.metricName().equals(name))
        .map(
            metric ->
                new Metric(
                    metric.namespace(),
                    name,
                    metric.dimensions().stream()
                        .collect(Collectors.toMap(Dimension::name, Dimension::value))))
        .findAny()
        .orElseThrow();
  }

  @Test
  void a_table_of_credentials_that_fails_raises_failing_credentials_alone() throws Exception {
    Deque<String> tenants = new ArrayDeque<>(List.of("table-a", "table-b", "table-c"));
    Map<String, String> sessions = new HashMap<>();
    for (String tenant : tenants) {
      DEPLOYMENT.onboard(tenant, "silver", "{}");
      sessions.put(tenant, DEPLOYMENT.open(tenant));
    }
    try (Injection denial =
        refuse(
            "AccessDeniedException",
            call -> call.resource().filter("TablesCredentials"::equals).isPresent())) {
      assertThat(
              raisedDuring(
                  3,
                  () -> {
                    String tenant = tenants.remove();
                    Handshake admitted = DEPLOYMENT.connect(tenant, sessions.get(tenant));
                    assertThat(admitted.status()).isEqualTo(101);
                  }))
          .containsExactly("credentials-failing", "services-failing");
      assertThat(denial.count()).isPositive();
    }
    awaitCalm(10);
  }

  /** Fills fail once their bucket has missed three minutes; an alarm needs three failed minutes. */
  @Test
  void sqs_that_does_not_answer_raises_all_that_needs_tokens_as_one() throws Exception {
    onboardStrict("undecided");
    String undecided = DEPLOYMENT.open("undecided");
    DEPLOYMENT.onboard("unchecked", "silver", "{}");
    String unchecked = DEPLOYMENT.open("unchecked");
    try (Injection outage =
        refuse(
            "ServiceUnavailable",
            call ->
                call.service().equals("sqs")
                    && List.of("Authorizer", "TokenProducer").contains(call.principal().name()))) {
      assertThat(
              raisedDuring(
                  7,
                  () -> {
                    assertThat(handshake("undecided", undecided).status()).isEqualTo(503);
                    DEPLOYMENT.close(handshake("unchecked", unchecked));
                  }))
          .contains(
              "admitted-without-token",
              "fills-dropped",
              "function-errors",
              "handshakes-undecided",
              "services-failing");
      assertThat(outage.count()).isPositive();
    }
    awaitCalm(10);
  }

  @Test
  void an_audit_that_cannot_be_written_raises_late_streams() throws Exception {
    try (Injection outage =
        refuse("ServiceUnavailable", call -> call.principal().name().equals("AuditWriter"))) {
      DEPLOYMENT.onboard("unaudited", "silver", "{}");
      minutes(20);
      assertThat(raised()).contains("streams-late");
      assertSeen();
      assertThat(outage.count()).isPositive();
    }
    awaitCalm(20);
    assertThat(
            DEPLOYMENT
                .control("GET", "/audit?tenantId=unaudited")
                .body()
                .path("entries")
                .findValuesAsText("what"))
        .contains("TenantOnboarded");
  }

  @Test
  void a_token_producer_that_is_throttled_raises_throttles_and_dropped_fills() throws Exception {
    DEPLOYMENT.onboard("throttled", "silver", "{}");
    DEPLOYMENT.cloud().throttle("TokenProducer", true);
    TreeSet<String> seen = raisedDuring(6, () -> {});
    DEPLOYMENT.cloud().throttle("TokenProducer", false);

    assertThat(seen).containsExactly("fills-dropped", "function-throttles", "services-failing");
    awaitCalm(12);
  }

  @Test
  void schedules_that_fire_two_minutes_late_raise_late_fills() throws Exception {
    DEPLOYMENT.onboard("late", "silver", "{}");
    DEPLOYMENT.cloud().faults().delaySchedules(Duration.ofMinutes(2));
    TreeSet<String> seen = raisedDuring(8, () -> {});
    DEPLOYMENT.cloud().faults().delaySchedules(Duration.ZERO);

    assertThat(seen).containsExactly("fills-late");
    awaitCalm(10);
  }

  /** The duration of an invocation is real time, which the timed out requests take. */
  @Test
  void requests_of_the_authorizer_that_hang_raise_slow_handshakes() throws Exception {
    String session = DEPLOYMENT.open(known("slow"));
    assertThat(
            raisedDuring(
                3,
                () -> {
                  try (Injection hung =
                      DEPLOYMENT
                          .cloud()
                          .faults()
                          .inject(
                              call ->
                                  call.principal().name().equals("Authorizer")
                                      && call.service().equals("dynamodb"),
                              12,
                              new Fault.Hung())) {
                    IntStream.range(0, 110)
                        .mapToObj(
                            i -> DEPLOYMENT.handshake(LocalDeployment.query("nobody" + i, session)))
                        .toList()
                        .forEach(CompletableFuture::join);
                    assertThat(hung.count()).isPositive();
                  }
                }))
        .contains("handshakes-slow");
    awaitCalm(10);
  }

  @Test
  void counts_that_somebody_overwrites_raise_drift() throws Exception {
    DEPLOYMENT.connect(known("drifting"), DEPLOYMENT.open("drifting"));
    try (DynamoDbClient tables = DEPLOYMENT.inspect(DynamoDbClient.builder())) {
      assertThat(
              raisedDuring(
                  31,
                  () ->
                      tables.updateItem(
                          request ->
                              request
                                  .tableName("TablesLimit")
                                  .key(
                                      Map.of(
                                          "tenantId", AttributeValue.fromS("drifting"),
                                          "key", AttributeValue.fromS("connections")))
                                  .updateExpression("ADD itemCount :wrong")
                                  .expressionAttributeValues(
                                      Map.of(":wrong", AttributeValue.fromN("12"))))))
          .containsExactly("counts-drift");
    }
    awaitCalm(35);
  }

  @Test
  void connections_that_no_token_paid_for_raise_over_admitted() throws Exception {
    String session = DEPLOYMENT.open(known("unpaid"));
    try (DynamoDbClient tables = DEPLOYMENT.inspect(DynamoDbClient.builder())) {
      add(tables, "unpaid", "admitted");
      assertThat(raisedDuring(62, () -> DEPLOYMENT.close(DEPLOYMENT.connect("unpaid", session))))
          .containsExactly("over-admitted");
      add(tables, "unpaid", "withoutToken");
    }
    awaitCalm(80);
  }

  private static void add(DynamoDbClient tables, String tenant, String attribute) {
    tables.updateItem(
        request ->
            request
                .tableName("TablesLimit")
                .key(
                    Map.of(
                        "tenantId", AttributeValue.fromS(tenant),
                        "key", AttributeValue.fromS("connections")))
                .updateExpression("ADD #attribute :many")
                .expressionAttributeNames(Map.of("#attribute", attribute))
                .expressionAttributeValues(Map.of(":many", AttributeValue.fromN("100000"))));
  }

  private static String known(String tenant) {
    DEPLOYMENT.onboard(tenant, "silver", "{}");
    return tenant;
  }

  @Test
  void tier_that_stops_to_enforce_raises_an_alarm_for_an_hour() throws Exception {
    DEPLOYMENT.control(
        "PUT",
        "/tiers/timid",
        """
        {"tier": "timid", "isolation": "POOL", "retreatAbovePercent": 20, "line": false,
         "limits": {"tenantPerMinute": 60, "sessionPerMinute": 600, "connectionsPerSession": 900,
                    "tenantConnections": 1000, "sessionTTL": 86400, "messagesPerMinute": 60}}""");
    List<String> tenants = List.of("retrying", "hasty");
    tenants.forEach(tenant -> DEPLOYMENT.onboard(tenant, "timid", "{}"));
    minutes(7);
    for (String tenant : tenants) {
      String session = DEPLOYMENT.open(tenant);
      for (int i = 0; i < 130; i++) {
        handshake(tenant, session);
      }
    }
    minutes(10);
    assertThat(raised()).contains("tier-retreated");
    assertSeen();

    minutes(50);
    assertThat(raised()).contains("tier-retreated");
    awaitCalm(20);
  }

  @Test
  void refused_handshakes_raise_an_alarm() throws Exception {
    DEPLOYMENT.onboard("flooded", "gold", "{\"tenantPerMinute\":1}");
    String session = DEPLOYMENT.open("flooded");
    for (int minute = 0; minute < 17; minute++) {
      List<CompletableFuture<Handshake>> handshakes =
          IntStream.range(0, 25)
              .mapToObj(i -> DEPLOYMENT.handshake(LocalDeployment.query("flooded", session)))
              .toList();
      handshakes.forEach(CompletableFuture::join);
      minutes(1);
    }

    assertThat(raised()).contains("refusals");
    assertSeen();

    awaitCalm(20);
  }
}
