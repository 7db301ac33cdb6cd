package dev.tollgate.infra;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import software.amazon.awscdk.Aws;
import software.amazon.awscdk.Stack;
import software.amazon.awscdk.services.cloudwatch.CfnAlarm;
import software.amazon.awscdk.services.cloudwatch.CfnCompositeAlarm;
import software.amazon.awscdk.services.cloudwatch.CfnDashboard;
import software.amazon.awscdk.services.logs.CfnQueryDefinition;
import software.amazon.awscdk.services.sqs.Queue;
import software.constructs.Construct;

/**
 * The dashboard, the alarms and the saved log queries of a deployment. Each alarm has a runbook of
 * the same name in {@code docs/runbooks}.
 *
 * <p>A metric without data points does not raise an alarm, because AWS sends most metrics only
 * while there is something to count. The exception is {@code minute-work-stopped}, which waits for
 * the functions that run each minute.
 */
final class Monitoring extends Construct {
  private static final int MINUTE = 60;

  /** From this percentage of a quota or of a time-out on, it is nearly used up. */
  private static final int NEAR = 80;

  /** The columns of a dashboard, and how many of them a widget takes. */
  private static final int COLUMNS = 24;

  private static final int WIDTH = 6;
  private static final int HEIGHT = 6;

  private final String prefix;
  private final String topicArn;

  /**
   * A metric.
   *
   * @param statistic such as {@code Sum} or {@code p99}
   * @param label what a graph calls it
   */
  private record Metric(
      String namespace,
      String name,
      Map<String, String> dimensions,
      String statistic,
      String label) {
    Metric labelled(String other) {
      return new Metric(namespace, name, dimensions, statistic, other);
    }

    static Metric outcome(String name, String outcome) {
      return new Metric("Tollgate", name, Map.of("Outcome", outcome), "Sum", outcome);
    }

    static Metric ofFunction(FunctionWithRoles function, String name, String statistic) {
      return new Metric(
          "AWS/Lambda",
          name,
          Map.of("FunctionName", function.name()),
          statistic,
          function.getNode().getId());
    }

    static Metric ofQueue(Queue queue, String name, String label) {
      return new Metric(
          "AWS/SQS", name, Map.of("QueueName", queue.getQueueName()), "Maximum", label);
    }
  }

  /**
   * When an alarm is raised: if {@code expression} over the metrics {@code m1}, {@code m2} and so
   * on is above {@code threshold} in {@code raisedBy} of the last {@code periods} periods.
   *
   * @param seconds the length of a period
   */
  private record Rule(String expression, double threshold, int seconds, int raisedBy, int periods) {
    /** More than {@code threshold} in three of five minutes: retries do not cure it. */
    static Rule lasting(String expression, double threshold) {
      return new Rule(expression, threshold, MINUTE, 3, 5);
    }

    /**
     * More than {@code threshold} in three of eight minutes: a message or batch that fails is
     * retried after one to two minutes, so that a lasting failure has minutes without one.
     */
    static Rule retried(String expression) {
      return new Rule(expression, 0, MINUTE, 3, 8);
    }
  }

  /**
   * What is monitored.
   *
   * @param connectionQuota how many connections a second the account may open
   */
  record Sources(
      List<FunctionWithRoles> functions,
      FunctionWithRoles authorizer,
      FunctionWithRoles tokenProducer,
      List<FunctionWithRoles> everyMinute,
      List<FunctionWithRoles> streams,
      Queue pool,
      Map<String, Queue> deadLetters,
      String scheduleGroup,
      int connectionQuota) {}

  Monitoring(Construct scope, String prefix, String topicArn, Sources sources) {
    super(scope, "Monitoring");
    this.prefix = prefix;
    this.topicArn = topicArn;
    List<Metric> deadLetters =
        sources.deadLetters().entrySet().stream()
            .map(
                queue ->
                    Metric.ofQueue(
                        queue.getValue(), "ApproximateNumberOfMessagesVisible", queue.getKey()))
            .toList();
    List<Metric> errors = ofEach(sources.functions(), "Errors");
    List<Metric> throttles = ofEach(sources.functions(), "Throttles");
    // Those that run each minute use the time that they have, and leave the rest to the next run.
    List<FunctionWithRoles> answering =
        sources.functions().stream().filter(each -> !sources.everyMinute().contains(each)).toList();
    List<Metric> longest =
        answering.stream().map(each -> Metric.ofFunction(each, "Duration", "Maximum")).toList();
    Metric backlog = new Metric("Tollgate", "SweepBacklog", Map.of(), "Sum", "unfinished changes");
    List<Metric> runs = ofEach(sources.everyMinute(), "Invocations");
    Metric dropped =
        new Metric(
            "AWS/Scheduler",
            "InvocationDroppedCount",
            Map.of("ScheduleGroup", sources.scheduleGroup()),
            "Sum",
            "dropped events of schedules");
    Metric delayed =
        new Metric(
            dropped.namespace(),
            "InvocationThrottleCount",
            dropped.dimensions(),
            "Sum",
            "throttled events of schedules");
    Metric concurrent =
        new Metric(
            "AWS/Lambda", "ConcurrentExecutions", Map.of(), "Maximum", "executions of the account");
    Metric requests =
        Metric.ofFunction(sources.tokenProducer(), "AsyncEventsDropped", "Sum")
            .labelled("dropped requests for fills");
    Metric fillDelay = new Metric("Tollgate", "FillDelay", Map.of(), "p99", "delay of fills, p99");
    List<Metric> credentials =
        Stream.of("STS", "TABLE")
            .map(
                source ->
                    new Metric(
                        "Tollgate", "CredentialFailures", Map.of("Source", source), "Sum", source))
            .toList();
    Metric age =
        Metric.ofQueue(sources.pool(), "ApproximateAgeOfOldestMessage", "oldest message, seconds");
    List<Metric> ages =
        sources.streams().stream()
            .map(each -> Metric.ofFunction(each, "IteratorAge", "Maximum"))
            .toList();
    Metric drift = new Metric("Tollgate", "AbsoluteDrift", Map.of(), "Sum", "drift");
    Metric latency =
        Metric.ofFunction(sources.authorizer(), "Duration", "p99").labelled("authorizer, p99");
    Metric middle =
        new Metric(
            latency.namespace(), latency.name(), latency.dimensions(), "p50", "authorizer, p50");
    Metric authorized = Metric.ofFunction(sources.authorizer(), "Invocations", "Sum");
    Metric admitted = Metric.outcome("Connections", "ADMITTED");
    Metric wouldRefuse = Metric.outcome("Connections", "WOULD_REFUSE");
    Metric retreats = new Metric("Tollgate", "Retreats", Map.of(), "Sum", "retreats of tiers");
    Metric overAdmitted =
        new Metric("Tollgate", "OverAdmitted", Map.of(), "Sum", "tenants with too few tokens");
    List<Metric> tokens =
        Stream.of("TokensMinted", "TokensTaken")
            .map(name -> new Metric("Tollgate", name, Map.of(), "Sum", name))
            .toList();
    List<Metric> refused =
        Stream.of("TENANT_RATE", "TENANT_CONNECTIONS", "SESSION_RATE", "SESSION_CONNECTIONS")
            .map(outcome -> Metric.outcome("Connections", outcome))
            .toList();
    Metric withoutToken = Metric.outcome("Connections", "ADMITTED_WITHOUT_TOKEN");
    Metric processedWithoutToken = Metric.outcome("Messages", "PROCESSED_WITHOUT_TOKEN");
    Metric undecided = Metric.outcome("Connections", "UNDECIDED");
    Metric leaseEnded = Metric.outcome("Connections", "LEASE_ENDED");
    Metric failed = Metric.outcome("Messages", "FAILED");
    Metric undecidedMessages = Metric.outcome("Messages", "UNDECIDED");
    Metric droppedConnections =
        new Metric("Tollgate", "ConnectionsDropped", Map.of(), "Sum", "dropped connections");

    // SQS reports a queue that was not in use for hours up to 15 minutes late (SQS Developer Guide,
    // "Available CloudWatch metrics"). FILL makes a late minute 0.
    alarm(
        "dead-letters",
        "Messages, pushes or events failed five times and are kept in a dead-letter queue: nobody got an answer to them.",
        new Rule(sum(deadLetters), 0, 5 * MINUTE, 1, 4),
        deadLetters);
    CfnAlarm functionErrors =
        alarm(
            "function-errors",
            "Functions fail: clients may get 500, and messages, fills or changes of tenants may wait.",
            Rule.retried(sum(errors)),
            errors);
    alarm(
        "function-throttles",
        "Lambda does not start functions: clients get 500, messages wait, and buckets are not filled.",
        Rule.lasting(sum(throttles), 0),
        throttles);
    CfnAlarm fillsDropped =
        alarm(
            "fills-dropped",
            "Buckets are not filled: once their tokens are used up, clients are refused though the rate allows them.",
            Rule.lasting(sum(List.of(dropped, requests)), 0),
            dropped,
            requests);
    // EventBridge Scheduler fires within the minute: 60 s are as promised. A fill mints the tokens
    // of the next 60 s, so a later one leaves its bucket without, and each token waits for the fill
    // that a refused claim requests. 30 s more are for the fill or for a shard's turn.
    alarm(
        "fills-late",
        "Buckets are filled more than 90 seconds late: clients of tenants at their limit wait longer than they should.",
        Rule.lasting("m1", 90_000),
        fillDelay);
    CfnAlarm credentialsFailing =
        alarm(
            "credentials-failing",
            "Functions cannot act for tenants: STS refuses, and clients get 503; or only the table of shared credentials fails.",
            Rule.lasting(sum(credentials), 0),
            credentials);
    // A period without an invocation has no data point: FILL makes it 0.
    alarm(
        "minute-work-stopped",
        "A job of each minute, housekeeper or sweep, does not run: soon counts are wrong, and changes of tenants wait.",
        new Rule("IF(MIN([FILL(m1,0),FILL(m2,0)]) < 1, 1, 0)", 0, 5 * MINUTE, 2, 2),
        "breaching",
        runs);
    CfnAlarm admittedWithoutToken =
        alarm(
            "admitted-without-token",
            "Rates are not enforced, for some tenants or all: SQS does not answer, or all limits are lifted.",
            Rule.lasting(sum(List.of(withoutToken, processedWithoutToken)), 0),
            withoutToken,
            processedWithoutToken);
    CfnAlarm handshakesUndecided =
        alarm(
            "handshakes-undecided",
            "Clients get 503: SQS, STS or DynamoDB does not answer, or is too slow.",
            Rule.lasting(sum(List.of(undecided, leaseEnded)), 0),
            undecided,
            leaseEnded);
    // Of few handshakes, the slowest one is the 99th percentile.
    alarm(
        "handshakes-slow",
        "Clients wait: one handshake in a hundred takes more than two seconds.",
        Rule.lasting("IF(FILL(m2,0) >= 100, m1, 0)", 2_000),
        latency,
        authorized);
    // Percents of the quotas. API Gateway and EventBridge Scheduler publish no usage of theirs:
    // each
    // handshake that API Gateway accepts invokes the authorizer, and the Scheduler counts what it
    // delays.
    alarm(
        "quotas-near",
        "Nobody is hurt yet: the AWS account uses over 80 percent of a quota, or EventBridge Scheduler delays fills.",
        Rule.lasting(
            "MAX([FILL(100 * m1 / SERVICE_QUOTA(m1),0), 100 * FILL(m2,0) / %d, IF(FILL(m3,0) > 0, 100, 0)])"
                .formatted(MINUTE * sources.connectionQuota()),
            NEAR),
        concurrent,
        authorized,
        delayed);
    CfnAlarm messagesFailing =
        alarm(
            "messages-failing",
            "Messages fail and are repeated: their handler throws or takes too long, or SQS or STS does not answer.",
            Rule.retried(sum(List.of(failed, undecidedMessages))),
            failed,
            undecidedMessages);
    // A message that failed comes again after 90 seconds.
    alarm(
        "messages-waiting",
        "Messages of tenants without a queue of their own wait for more than 200 seconds.",
        Rule.lasting("m1", 200),
        age);
    // A lost $disconnect event makes a count too high by one, until its connection is dropped.
    alarm(
        "counts-drift",
        "Counts of open connections go wrong again and again: tenants near their limit are refused too early or too late.",
        new Rule("FILL(m1,0) - FILL(m2,0)", 10, 15 * MINUTE, 2, 2),
        drift,
        droppedConnections);
    List<Metric> handshakes = join(refused, List.of(admitted, wouldRefuse));
    String refusals = "SUM([%s])".formatted(filled(1, refused.size()));
    String all = "SUM([%s])".formatted(filled(1, handshakes.size()));
    alarm(
        "refusals",
        "Limits refuse more than half of the handshakes.",
        new Rule(
            "IF(%2$s > 30, 100 * %1$s / %2$s, 0)".formatted(refusals, all), 50, 5 * MINUTE, 3, 3),
        handshakes);

    // A batch that fails is retried up to every minute.
    alarm(
        "streams-late",
        "Nobody is refused for it: audit, events, history or ends of sessions are over five minutes behind.",
        new Rule("MAX([%s])".formatted(filled(1, ages.size())), 300_000, 5 * MINUTE, 2, 3),
        ages);
    // It happens once, and is raised for an hour.
    alarm(
        "tier-retreated",
        "A tier stopped enforcing its limits, because they refused too many. It enforces them again when a person says so.",
        new Rule("FILL(m1,0)", 0, 5 * MINUTE, 1, 12),
        retreats);

    alarm(
        "sweep-behind",
        "Changes of tenants or tiers are not finished after 15 minutes: until then the old limits hold.",
        new Rule("FILL(m1,0)", 0, MINUTE, 15, 15),
        backlog);
    alarm(
        "functions-slow",
        "Nobody is hurt yet: a function takes more than 80 percent of its time-out.",
        Rule.lasting(partsOfTimeouts(answering), NEAR),
        longest);

    // Each tenant in use is checked once an hour.
    alarm(
        "over-admitted",
        "The systems behind a tenant got more connections than its rate allows. No client is refused.",
        new Rule("FILL(m1,0)", 0, 5 * MINUTE, 1, 15),
        overAdmitted);

    // A failing service raises several of these six. Only a failing service or a permission raises
    // the first four, so one message for them is enough. A faulty message handler may raise the
    // others for days: they keep messages of their own, or hide a service that fails meanwhile.
    CfnCompositeAlarm failing =
        over(
                "services-failing",
                description("services-failing", "A service of AWS fails: see the other alarms."),
                List.of(
                    admittedWithoutToken, credentialsFailing, fillsDropped, handshakesUndecided))
            .build();
    silenceDuring(failing, "function-errors", functionErrors);
    silenceDuring(failing, "messages-failing", messagesFailing);

    query(
        "errors",
        "filter ispresent(CredentialFailures)"
            + " or (@message like /Exception|Error|Task timed out|failed|not done|stay open/"
            + " and not ispresent(_aws.Timestamp))"
            + " | fields @timestamp, @log, @message | sort @timestamp desc",
        sources.functions());
    query(
        "refused handshakes by tenant",
        "filter ispresent(Connections) and Outcome not like /ADMITTED|WOULD_REFUSE/"
            + " | stats sum(Connections) as refused by tenantId, Outcome | sort refused desc",
        sources.functions());
    query(
        "why limits were not checked",
        "filter ispresent(failure) or @message like /admitted without a token/"
            + " | fields @timestamp, tenantId, coalesce(failure, @message) as reason"
            + " | sort @timestamp desc",
        sources.functions());
    query(
        "messages by tenant",
        "filter ispresent(Messages) | stats sum(Messages) as messages by tenantId, Outcome"
            + " | sort messages desc",
        sources.functions());
    query(
        "drift by tenant",
        "filter ispresent(Drift) | stats sum(Drift), sum(AbsoluteDrift) as corrected by tenantId"
            + " | sort corrected desc",
        sources.functions());

    List<Metric> messages =
        Stream.of("PROCESSED", "THROTTLED", "FAILED", "UNDECIDED", "SUSPENDED", "BAD_FRAME")
            .map(outcome -> Metric.outcome("Messages", outcome))
            .toList();
    Metric slotWait = new Metric("Tollgate", "SlotWait", Map.of(), "p99", "wait for a slot, p99");
    dashboard(
        graph(
            "Handshakes a minute", join(handshakes, List.of(withoutToken, undecided, leaseEnded))),
        graph("Handshakes: milliseconds of the authorizer", List.of(middle, latency)),
        graph("Wait in line, milliseconds", List.of(slotWait)),
        graph("Messages a minute", messages),
        graph("Age of the oldest message, seconds", List.of(age)),
        graph(
            "Admitted without a token, or undecided",
            List.of(withoutToken, processedWithoutToken, undecided, leaseEnded)),
        graph("Errors of functions and credentials", join(errors, credentials)),
        graph("Concurrent executions of the account", List.of(concurrent)),
        graph("Throttles of functions", throttles),
        graph("Longest runs of functions, milliseconds", longest),
        graph(
            "Dead letters, dropped and throttled fills",
            join(deadLetters, List.of(dropped, requests, delayed))),
        graph("Delays of fills and stream events, ms", join(List.of(fillDelay), ages)),
        graph("Minute work, backlog of the sweep", join(runs, List.of(backlog))),
        graph("Drift of counts", List.of(drift, droppedConnections)),
        graph("Tokens a minute", tokens),
        graph("Retreats of tiers, over-admitted tenants", List.of(retreats, overAdmitted)));
  }

  /** What the names of a deployment's alarms begin with. */
  static String alarmPrefix(String prefix) {
    return prefix + "tollgate-";
  }

  private static List<Metric> ofEach(List<FunctionWithRoles> functions, String metric) {
    return functions.stream().map(each -> Metric.ofFunction(each, metric, "Sum")).toList();
  }

  private static List<Metric> join(List<Metric> one, List<Metric> other) {
    return Stream.concat(one.stream(), other.stream()).toList();
  }

  /** The largest percentage of its time-out that a function used, of the metrics of durations. */
  private static String partsOfTimeouts(List<FunctionWithRoles> functions) {
    return IntStream.range(0, functions.size())
        .mapToObj(
            i ->
                "100 * FILL(m%d,0) / %d"
                    .formatted(i + 1, functions.get(i).timeout().toMilliseconds().longValue()))
        .collect(Collectors.joining(",", "MAX([", "])"));
  }

  /** The sum of metrics, of which some may have no data point. */
  private static String sum(List<Metric> metrics) {
    return "SUM([%s])".formatted(filled(1, metrics.size()));
  }

  private static String filled(int first, int last) {
    return String.join(
        ",", IntStream.rangeClosed(first, last).mapToObj("FILL(m%d,0)"::formatted).toList());
  }

  private CfnAlarm alarm(String name, String meaning, Rule rule, Metric... metrics) {
    return alarm(name, meaning, rule, List.of(metrics));
  }

  private CfnAlarm alarm(String name, String meaning, Rule rule, List<Metric> metrics) {
    return alarm(name, meaning, rule, "notBreaching", metrics);
  }

  /** An alarm that is raised while any of these is, and sends messages in their place. */
  private CfnCompositeAlarm.Builder over(String name, String description, List<CfnAlarm> alarms) {
    for (CfnAlarm alarm : alarms) {
      alarm.setAlarmActions(List.of());
      alarm.setOkActions(List.of());
    }
    return CfnCompositeAlarm.Builder.create(this, name)
        .alarmName(alarmPrefix(prefix) + name)
        .alarmDescription(description)
        .alarmRule(
            alarms.stream()
                .map(alarm -> "ALARM(\"" + alarm.getRef() + "\")")
                .collect(Collectors.joining(" OR ")))
        .alarmActions(List.of(topicArn))
        .okActions(List.of(topicArn));
  }

  /**
   * Keeps an alarm's messages back while another alarm is raised. They follow if it ends first. The
   * other one may be a minute later, because its metrics count other minutes.
   */
  private void silenceDuring(CfnCompositeAlarm cause, String name, CfnAlarm alarm) {
    over(name + "-message", alarm.getAlarmDescription(), List.of(alarm))
        .actionsSuppressor(cause.getRef())
        .actionsSuppressorWaitPeriod(MINUTE)
        .actionsSuppressorExtensionPeriod(MINUTE)
        .build();
  }

  /** What the alarm means, and its runbook: the control plane reads both from it. */
  private static String description(String name, String meaning) {
    return meaning + " Runbook: docs/runbooks/" + name + ".md";
  }

  private CfnAlarm alarm(
      String name, String meaning, Rule rule, String missingData, List<Metric> metrics) {
    List<CfnAlarm.MetricDataQueryProperty> queries = new ArrayList<>();
    queries.add(
        CfnAlarm.MetricDataQueryProperty.builder()
            .id("value")
            .expression(rule.expression())
            .label(name)
            .returnData(true)
            .build());
    for (int i = 0; i < metrics.size(); i++) {
      queries.add(query("m" + (i + 1), metrics.get(i), rule.seconds()));
    }
    return CfnAlarm.Builder.create(this, name)
        .alarmName(alarmPrefix(prefix) + name)
        .alarmDescription(description(name, meaning))
        .metrics(queries)
        .comparisonOperator("GreaterThanThreshold")
        .threshold(rule.threshold())
        .datapointsToAlarm(rule.raisedBy())
        .evaluationPeriods(rule.periods())
        .treatMissingData(missingData)
        .alarmActions(List.of(topicArn))
        .okActions(List.of(topicArn))
        .build();
  }

  private static CfnAlarm.MetricDataQueryProperty query(String id, Metric metric, int seconds) {
    return CfnAlarm.MetricDataQueryProperty.builder()
        .id(id)
        .returnData(false)
        .metricStat(
            CfnAlarm.MetricStatProperty.builder()
                .metric(
                    CfnAlarm.MetricProperty.builder()
                        .namespace(metric.namespace())
                        .metricName(metric.name())
                        .dimensions(
                            metric.dimensions().entrySet().stream()
                                .map(
                                    dimension ->
                                        CfnAlarm.DimensionProperty.builder()
                                            .name(dimension.getKey())
                                            .value(dimension.getValue())
                                            .build())
                                .toList())
                        .build())
                .stat(metric.statistic())
                .period(seconds)
                .build())
        .build();
  }

  /** Saves a query of CloudWatch Logs Insights over the functions' log groups. */
  private void query(String name, String query, List<FunctionWithRoles> functions) {
    CfnQueryDefinition.Builder.create(this, "Query " + name)
        .name(prefix + "tollgate/" + name)
        .queryString(query)
        .logGroupNames(functions.stream().map(FunctionWithRoles::logGroup).toList())
        .build();
  }

  private static Map<String, Object> graph(String title, List<Metric> metrics) {
    List<List<Object>> lines = new ArrayList<>();
    for (Metric metric : metrics) {
      List<Object> line = new ArrayList<>(List.of(metric.namespace(), metric.name()));
      metric
          .dimensions()
          .forEach(
              (name, value) -> {
                line.add(name);
                line.add(value);
              });
      line.add(Map.of("stat", metric.statistic(), "label", metric.label()));
      lines.add(line);
    }
    Map<String, Object> properties = new LinkedHashMap<>();
    properties.put("title", title);
    properties.put("region", Aws.REGION);
    properties.put("view", "timeSeries");
    properties.put("period", MINUTE);
    properties.put("metrics", lines);
    return properties;
  }

  /** Draws the graphs from left to right and from top to bottom. */
  @SafeVarargs
  private void dashboard(Map<String, Object>... graphs) {
    List<Map<String, Object>> widgets = new ArrayList<>();
    int inRow = COLUMNS / WIDTH;
    for (int i = 0; i < graphs.length; i++) {
      Map<String, Object> widget = new LinkedHashMap<>();
      widget.put("type", "metric");
      widget.put("x", i % inRow * WIDTH);
      widget.put("y", i / inRow * HEIGHT);
      widget.put("width", WIDTH);
      widget.put("height", HEIGHT);
      widget.put("properties", graphs[i]);
      widgets.add(widget);
    }
    CfnDashboard.Builder.create(this, "Dashboard")
        .dashboardName(prefix + "tollgate")
        .dashboardBody(Stack.of(this).toJsonString(Map.of("widgets", widgets)))
        .build();
  }
}
