package dev.tollgate.infra;

import io.github.cdklabs.cdknag.NagPackSuppression;
import io.github.cdklabs.cdknag.NagSuppressions;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import software.amazon.awscdk.Aws;
import software.amazon.awscdk.CfnOutput;
import software.amazon.awscdk.CfnResource;
import software.amazon.awscdk.Duration;
import software.amazon.awscdk.RemovalPolicy;
import software.amazon.awscdk.Stack;
import software.amazon.awscdk.aws_apigatewayv2_authorizers.WebSocketLambdaAuthorizer;
import software.amazon.awscdk.aws_apigatewayv2_integrations.WebSocketLambdaIntegration;
import software.amazon.awscdk.services.apigatewayv2.WebSocketApi;
import software.amazon.awscdk.services.apigatewayv2.WebSocketRoute;
import software.amazon.awscdk.services.apigatewayv2.WebSocketRouteOptions;
import software.amazon.awscdk.services.apigatewayv2.WebSocketStage;
import software.amazon.awscdk.services.budgets.CfnBudget;
import software.amazon.awscdk.services.dynamodb.Attribute;
import software.amazon.awscdk.services.dynamodb.AttributeType;
import software.amazon.awscdk.services.dynamodb.BillingMode;
import software.amazon.awscdk.services.dynamodb.Table;
import software.amazon.awscdk.services.iam.AccountRootPrincipal;
import software.amazon.awscdk.services.iam.Role;
import software.amazon.awscdk.services.iam.ServicePrincipal;
import software.amazon.awscdk.services.lambda.Architecture;
import software.amazon.awscdk.services.lambda.Code;
import software.amazon.awscdk.services.lambda.Function;
import software.amazon.awscdk.services.lambda.Runtime;
import software.amazon.awscdk.services.logs.LogGroup;
import software.amazon.awscdk.services.logs.RetentionDays;
import software.amazon.awscdk.services.scheduler.CfnSchedule;
import software.amazon.awscdk.services.scheduler.CfnScheduleGroup;
import software.amazon.awscdk.services.sqs.Queue;
import software.amazon.awscdk.services.sqs.QueueEncryption;
import software.constructs.Construct;

/**
 * A stack that answers what the documentation of AWS leaves open: how API Gateway maps answers of
 * SQS, which statuses clients get, which events functions get, what a schedule sends, and how
 * DynamoDB evaluates conditions on attributes. It keeps nothing and deletes itself, and the stack
 * {@code Tollgate} with the same prefix, at a given time.
 */
final class ProbeStack {
  private static final String STAGE = "probe";

  /** The tenant whose rows the stack's role may write. */
  private static final String TENANT = "probe";

  private static final Pattern TIME = Pattern.compile("\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}");

  private static final Pattern EMAIL = Pattern.compile("[^@\\s]+@[^@\\s]+");

  /** The budget of the account per month, in US dollars. */
  private static final int BUDGET = 5;

  /** The keys of the integration responses by the names under which frames report them. */
  private static final Map<String, String> KEYS = new LinkedHashMap<>();

  static {
    KEYS.put("default", "$default");
    KEYS.put("status 2xx", "/2\\d\\d/");
    KEYS.put("status 4xx", "/4\\d\\d/");
    KEYS.put("status 5xx", "/5\\d\\d/");
    KEYS.put("text MessageId", "/.*MessageId.*/");
    KEYS.put("text Code", "/.*Code.*/");
  }

  private final Stack stack;
  private final String prefix;
  private final Role functionRole;
  private final LogGroup log;

  private ProbeStack(Stack stack, String prefix) {
    this.stack = stack;
    this.prefix = prefix;
    log =
        LogGroup.Builder.create(stack, "Log")
            .retention(RetentionDays.ONE_WEEK)
            .removalPolicy(RemovalPolicy.DESTROY)
            .build();
    functionRole =
        Role.Builder.create(stack, "FunctionRole")
            .assumedBy(new ServicePrincipal("lambda.amazonaws.com"))
            .description("The role of the probe's functions, which only write logs.")
            .build();
    log.grantWrite(functionRole);
  }

  /**
   * Adds the probe to a stack.
   *
   * @param prefix see {@link TollgateProps#prefix()}
   * @param jar the code of the probe's functions
   * @param deleteAt when both stacks are deleted: a local time in UTC, such as {@code
   *     2026-11-27T14:00:00}
   * @param budgetEmail receives an alarm when the account's costs of a month exceed a budget; empty
   *     for no budget
   * @throws IllegalArgumentException if a value is malformed
   */
  static void add(
      Stack stack, String prefix, Path jar, String deleteAt, Optional<String> budgetEmail) {
    if (!TIME.matcher(deleteAt).matches()) {
      throw new IllegalArgumentException(
          "deleteAt: \"" + deleteAt + "\" (expected: a time in UTC such as 2026-11-27T14:00:00)");
    }
    ProbeStack probe = new ProbeStack(stack, prefix);
    Function function = probe.function("Function", jar).build();
    Function throttled = probe.function("Throttled", jar).reservedConcurrentExecutions(0).build();
    probe.frames(function, throttled);
    probe.handshakes("ThrottledConnect", function, throttled);
    probe.handshakes("ThrottledAuthorizer", throttled, function);
    CfnScheduleGroup group =
        CfnScheduleGroup.Builder.create(stack, "Schedules").name(prefix + "probe").build();
    probe.directSchedule(group);
    probe.deletion(group, deleteAt);
    probe.table();
    budgetEmail.ifPresent(probe::budget);
    probe.output("LogGroup", probe.log.getLogGroupName());
  }

  private Function.Builder function(String id, Path jar) {
    return Function.Builder.create(stack, id)
        .description("Logs events of the probe's APIs, and answers as the query string asks.")
        .code(Code.fromAsset(jar.toString()))
        .handler("dev.tollgate.probe.ProbeFunction")
        .runtime(Runtime.JAVA_25)
        .architecture(Architecture.ARM_64)
        .memorySize(512)
        .timeout(Duration.seconds(10))
        .role(functionRole)
        .logGroup(log);
  }

  /** An API with an authorizer and a function at {@code $connect}, and the output of its URL. */
  private WebSocketApi api(Construct scope, Function authorizer, Function connect) {
    WebSocketApi api =
        WebSocketApi.Builder.create(scope, "Api")
            .apiName(prefix + "probe-" + scope.getNode().getId())
            .routeSelectionExpression("$request.body.action")
            .build();
    api.addRoute(
        "$connect",
        WebSocketRouteOptions.builder()
            .integration(new WebSocketLambdaIntegration("Connect", connect))
            .authorizer(
                WebSocketLambdaAuthorizer.Builder.create("Authorizer", authorizer)
                    .identitySource(List.of("route.request.querystring.run"))
                    .build())
            .build());
    output(scope.getNode().getId() + "URL", api.getApiEndpoint() + "/" + STAGE);
    return api;
  }

  private static void deploy(Construct scope, WebSocketApi api) {
    WebSocketStage stage =
        WebSocketStage.Builder.create(scope, "Stage")
            .webSocketApi(api)
            .stageName(STAGE)
            .autoDeploy(false)
            .build();
    accept(
        stage,
        "AwsSolutions-APIG1",
        "The probe exists for two hours. An access log needs the account's log role, which the probe"
            + " must not require.");
    WebSocket.deploy(scope, stage);
  }

  private void handshakes(String id, Function authorizer, Function connect) {
    Construct scope = new Construct(stack, id);
    deploy(scope, api(scope, authorizer, connect));
  }

  /** The API whose frames go to SQS, and from whose handshakes the events come. */
  private void frames(Function function, Function throttled) {
    Construct scope = new Construct(stack, "Frames");
    WebSocketApi api = api(scope, function, function);
    WebSocketRoute disconnect =
        api.addRoute(
            "$disconnect",
            WebSocketRouteOptions.builder()
                .integration(new WebSocketLambdaIntegration("Disconnect", function))
                .build());
    accept(
        disconnect,
        "AwsSolutions-APIG4",
        "A WebSocket API supports an authorizer only at $connect.");
    WebSocket.answering(api, "throttled", new WebSocketLambdaIntegration("Integration", throttled));

    Queue queue = withoutDeadLetters(queue("Queue").fifo(true));
    String missing = prefix + "probe_missing.fifo";
    Role sender = sender("Sender");
    sender.addToPolicy(
        Policies.statement(
                List.of(queue.getQueueArn(), Policies.arn(stack, "sqs", missing)),
                "sqs",
                "SendMessage")
            .build());
    String existing = queue.getQueueName();
    Role stranger = sender("SenderWithoutPermission");
    String raw = "\"body\":\"$util.base64Encode($input.body)\"}";
    String found = "\"found\":\"#foreach($found in $input.path('$..MessageId'))$found#end\"}";
    List<CfnResource> responses =
        Stream.of(
                route(api, "sqs", sender, existing, raw),
                route(api, "missing", sender, missing, raw),
                route(api, "denied", stranger, existing, raw),
                route(api, "scan", sender, existing, found))
            .flatMap(List::stream)
            .toList();
    // API Gateway refuses changes of one API now and then if there are many at once.
    for (int i = 1; i < responses.size(); i++) {
      responses.get(i).addResourceDependency(responses.get(i - 1));
    }
    deploy(scope, api);
  }

  /** A route to a queue, with an integration response for each key. */
  private static List<CfnResource> route(
      WebSocketApi api, String key, Role sender, String queueName, String answer) {
    WebSocketRoute route =
        WebSocket.answering(
            api, key, WebSocket.sending(false, sender, MessageQueues.uri(queueName), Map.of()));
    return KEYS.entrySet().stream()
        .<CfnResource>map(
            response ->
                WebSocket.answer(
                    route,
                    "Response" + response.getKey().replaceAll("\\W", ""),
                    response.getValue(),
                    "{\"key\":\"" + response.getKey() + "\"," + answer))
        .toList();
  }

  private Role sender(String id) {
    return Role.Builder.create(stack, id)
        .assumedBy(new ServicePrincipal("apigateway.amazonaws.com"))
        .description("A role with which API Gateway sends frames of the probe.")
        .build();
  }

  private Queue.Builder queue(String id) {
    return Queue.Builder.create(stack, id)
        .encryption(QueueEncryption.SQS_MANAGED)
        .enforceSsl(true)
        .retentionPeriod(Duration.hours(1))
        .removalPolicy(RemovalPolicy.DESTROY);
  }

  private static Queue withoutDeadLetters(Queue.Builder settings) {
    Queue queue = settings.build();
    accept(queue, "AwsSolutions-SQS3", "No program processes the messages, which nobody needs.");
    return queue;
  }

  /** A schedule that sends tokens without a function, as those of buckets with {@code DIRECT}. */
  private void directSchedule(CfnScheduleGroup group) {
    Queue queue = withoutDeadLetters(queue("DirectQueue"));
    Role role = schedulerRole("DirectRole", group);
    role.addToPolicy(
        Policies.statement(List.of(queue.getQueueArn()), "sqs", "SendMessage").build());
    String body =
        """
        {\\"tenant\\":\\"probe\\",\\"action\\":\\"connect\\",\\"mintedAt\\":\\"<aws.scheduler.scheduled-time>\\"}""";
    schedule(
        "DirectSchedule",
        group,
        role,
        // Unlike cron, it begins at once.
        "rate(1 minute)",
        "sqs:sendMessageBatch",
        """
        {"QueueUrl":"%s","Entries":[{"Id":"0","MessageBody":"%s"},{"Id":"1","MessageBody":"%s"}]}"""
            .formatted(queue.getQueueUrl(), body, body));
    output("DirectQueue", queue.getQueueUrl());
  }

  /**
   * Deletes both stacks at a time, whatever becomes of the command that created them. A stack that
   * was created with a service role, as the CDK does, is deleted with that role.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-iam-servicerole.html">CloudFormation
   *     service role</a>
   */
  private void deletion(CfnScheduleGroup group, String deleteAt) {
    Role role = schedulerRole("DeletionRole", group);
    List<String> names = List.of(TollgateApp.stackName(prefix), Aws.STACK_NAME);
    role.addToPolicy(
        Policies.statement(
                names.stream()
                    .map(name -> Policies.arn(stack, "cloudformation", "stack/" + name + "/*"))
                    .toList(),
                "cloudformation",
                "DeleteStack")
            .build());
    for (String name : List.of(TollgateApp.stackName(prefix), "<AWS::StackName>")) {
      Policies.accept(
          role,
          Policies.finding("cloudformation", "stack/" + name + "/*"),
          "The wildcard stands for the stack's id, which CloudFormation assigns.");
    }
    String at = "at(" + deleteAt + ")";
    schedule(
        "DeleteTollgate", group, role, at, "cloudformation:deleteStack", stackOf(names.get(0)));
    schedule("DeleteProbe", group, role, at, "cloudformation:deleteStack", stackOf(names.get(1)));
  }

  private static String stackOf(String name) {
    return "{\"StackName\":\"" + name + "\"}";
  }

  private Role schedulerRole(String id, CfnScheduleGroup group) {
    return Role.Builder.create(stack, id)
        .assumedBy(
            new ServicePrincipal("scheduler.amazonaws.com")
                .withConditions(
                    Map.of(
                        "StringEquals",
                        Policies.inOrder(
                            Map.of(
                                "aws:SourceAccount",
                                Aws.ACCOUNT_ID,
                                "aws:SourceArn",
                                group.getAttrArn())))))
        .description("A role of schedules of the probe.")
        .build();
  }

  private void schedule(
      String id,
      CfnScheduleGroup group,
      Role role,
      String expression,
      String action,
      String input) {
    CfnSchedule schedule =
        CfnSchedule.Builder.create(stack, id)
            .groupName(group.getRef())
            .scheduleExpression(expression)
            .scheduleExpressionTimezone("UTC")
            .flexibleTimeWindow(
                CfnSchedule.FlexibleTimeWindowProperty.builder().mode("OFF").build())
            .target(
                CfnSchedule.TargetProperty.builder()
                    .arn("arn:" + Aws.PARTITION + ":scheduler:::aws-sdk:" + action)
                    .roleArn(role.getRoleArn())
                    .input(input)
                    .build())
            .build();
    // The role alone does not wait for its policy.
    schedule.getNode().addDependency(role);
  }

  /**
   * A table with the policy of the product's secrets, and a role with the conditions of a tenant's
   * role, which principals of the account may assume.
   */
  private void table() {
    Table table =
        Table.Builder.create(stack, "Table")
            .partitionKey(Attribute.builder().name("tenantId").type(AttributeType.STRING).build())
            .sortKey(Attribute.builder().name("key").type(AttributeType.STRING).build())
            .billingMode(BillingMode.PAY_PER_REQUEST)
            .removalPolicy(RemovalPolicy.DESTROY)
            .build();
    accept(table, "AwsSolutions-DDB3", "The table has one row, which nobody needs.");
    Role role =
        Role.Builder.create(stack, "WriterRole")
            .assumedBy(new AccountRootPrincipal())
            .description("The role with which the probe tries conditions on attributes.")
            .build();
    role.addToPolicy(
        Policies.statement(List.of(table.getTableArn()), "dynamodb", "UpdateItem")
            .conditions(TenantRole.writesOf(TENANT, LimitAttributes.LINE, LimitAttributes.ADMITTED))
            .build());
    Tables.close(table, List.of(role));
    output("Table", table.getTableName());
    output("WriterRole", role.getRoleArn());
  }

  private void budget(String email) {
    if (!EMAIL.matcher(email).matches()) {
      throw new IllegalArgumentException(
          "budgetEmail: \"" + email + "\" (expected: an e-mail address)");
    }
    CfnBudget.Builder.create(stack, "Budget")
        .budget(
            CfnBudget.BudgetDataProperty.builder()
                .budgetType("COST")
                .timeUnit("MONTHLY")
                .budgetLimit(CfnBudget.SpendProperty.builder().amount(BUDGET).unit("USD").build())
                .build())
        .notificationsWithSubscribers(
            List.of(
                CfnBudget.NotificationWithSubscribersProperty.builder()
                    .notification(
                        CfnBudget.NotificationProperty.builder()
                            .notificationType("ACTUAL")
                            .comparisonOperator("GREATER_THAN")
                            .threshold(100)
                            .build())
                    .subscribers(
                        List.of(
                            CfnBudget.SubscriberProperty.builder()
                                .subscriptionType("EMAIL")
                                .address(email)
                                .build()))
                    .build()))
        .build();
  }

  private void output(String name, String value) {
    CfnOutput.Builder.create(stack, name + "Output").value(value).build().overrideLogicalId(name);
  }

  private static void accept(Construct construct, String finding, String reason) {
    NagSuppressions.addResourceSuppressions(
        construct, List.of(NagPackSuppression.builder().id(finding).reason(reason).build()));
  }
}
