package dev.tollgate.infra;

import io.github.cdklabs.cdknag.NagPackSuppression;
import io.github.cdklabs.cdknag.NagSuppressions;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import software.amazon.awscdk.Aws;
import software.amazon.awscdk.Duration;
import software.amazon.awscdk.services.iam.PolicyStatement;
import software.amazon.awscdk.services.iam.Role;
import software.amazon.awscdk.services.iam.ServicePrincipal;
import software.amazon.awscdk.services.lambda.Alias;
import software.amazon.awscdk.services.lambda.EventInvokeConfigOptions;
import software.amazon.awscdk.services.scheduler.CfnSchedule;
import software.amazon.awscdk.services.scheduler.CfnScheduleGroup;
import software.amazon.awscdk.services.sqs.Queue;
import software.amazon.awscdk.services.sqs.QueueEncryption;
import software.constructs.Construct;

/**
 * The group and role of the schedules. The control plane creates a schedule for each bucket, which
 * invokes the token producer or sends tokens itself; the sweep, the housekeeper and the writer of
 * the history have their schedules in the same group.
 */
final class Schedules extends Construct {
  /** An older event is dropped, because the next event replaces it. */
  private static final Duration MAX_EVENT_AGE = Duration.seconds(60);

  private final String prefix;
  private final String groupName;
  private final CfnScheduleGroup group;
  private final Queue deadLetters;
  private final Role role;

  Schedules(Construct scope, TollgateProps props) {
    // A construct id is part of CloudFormation's logical ids: a new one would replace the group.
    super(scope, "Filling");
    prefix = props.prefix();
    groupName = prefix + "tollgate";
    group = CfnScheduleGroup.Builder.create(this, "Group").name(groupName).build();
    deadLetters =
        Queue.Builder.create(this, "DeadLetters")
            .encryption(QueueEncryption.SQS_MANAGED)
            .enforceSsl(true)
            .retentionPeriod(Duration.days(14))
            .build();
    NagSuppressions.addResourceSuppressions(
        deadLetters,
        List.of(
            NagPackSuppression.builder()
                .id("AwsSolutions-SQS3")
                .reason(
                    "This is the dead-letter queue of the schedules: EventBridge Scheduler sends the "
                        + "events here that it could not deliver.")
                .build()));
    role =
        Role.Builder.create(this, "Role")
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
            .description("The role of the schedules in the group.")
            .build();
    role.addToPolicy(
        PolicyStatement.Builder.create()
            .actions(List.of("sqs:SendMessage"))
            .resources(List.of(deadLetters.getQueueArn()))
            .build());
    Policies.allBuckets(
        role,
        prefix,
        "A schedule may send tokens to the bucket that its input names. Only the control plane and "
            + "the token producer create schedules in the group.",
        "SendMessage");
  }

  /** The queue of the events that could not be delivered. */
  Queue deadLetters() {
    return deadLetters;
  }

  /** The name of the group of all schedules. */
  String groupName() {
    return groupName;
  }

  /** Allows buckets' schedules to invoke the token producer, and allows it to change them. */
  void invoke(FunctionWithRoles tokenProducer) {
    allowInvocation(tokenProducer);
    tokenProducer.allSchedules(this, "CreateSchedule", "UpdateSchedule", "DeleteSchedule");
  }

  /** Runs a function every minute. */
  void everyMinute(FunctionWithRoles function) {
    // cron runs at the full minute; rate() counts from the last change of the schedule.
    schedule(function, "cron(* * * * ? *)");
  }

  /** Runs a function once an hour, ten minutes after the full hour. */
  void everyHour(FunctionWithRoles function) {
    schedule(function, "cron(10 * * * ? *)");
  }

  private void schedule(FunctionWithRoles function, String expression) {
    String id = function.getNode().getId();
    CfnSchedule.Builder.create(this, id)
        .name(prefix + id.toLowerCase(Locale.ROOT))
        .groupName(group.getRef())
        .scheduleExpression(expression)
        .flexibleTimeWindow(CfnSchedule.FlexibleTimeWindowProperty.builder().mode("OFF").build())
        .target(
            CfnSchedule.TargetProperty.builder()
                .arn(allowInvocation(function).getFunctionArn())
                .roleArn(role.getRoleArn())
                .input("{\"scheduledTime\":\"<aws.scheduler.scheduled-time>\"}")
                .retryPolicy(
                    CfnSchedule.RetryPolicyProperty.builder()
                        .maximumRetryAttempts(2)
                        .maximumEventAgeInSeconds(MAX_EVENT_AGE.toSeconds())
                        .build())
                .deadLetterConfig(
                    CfnSchedule.DeadLetterConfigProperty.builder()
                        .arn(deadLetters.getQueueArn())
                        .build())
                .build())
        .build();
  }

  /** The resource part of the ARNs of the schedules of one tenant's buckets. */
  String bucketsOf(String tenantId) {
    return "schedule/" + groupName + "/" + prefix + "*_" + tenantId;
  }

  /**
   * The resource part of the ARNs of the schedules of all tenants' buckets. No other schedule of
   * the group has an underscore after the prefix.
   */
  String buckets() {
    return bucketsOf("*");
  }

  /** The environment variables of a function that creates schedules. */
  Map<String, String> variables() {
    return Map.of(
        "SCHEDULE_GROUP", groupName,
        "SCHEDULE_ROLE_ARN", role.getRoleArn(),
        "SCHEDULE_DEAD_LETTER_ARN", deadLetters.getQueueArn());
  }

  /** The resource part of the ARNs of the shards' schedules, which belong to no tenant. */
  String shards() {
    return "schedule/" + groupName + "/shard-*";
  }

  /**
   * The resource part of the ARNs of the schedules that open and close the windows of scheduled
   * limits.
   */
  String windows() {
    return "schedule/" + groupName + "/limit.*";
  }

  /** The permission to pass the schedules' role, which creating a schedule requires. */
  PolicyStatement passRole() {
    return Policies.statement(List.of(role.getRoleArn()), "iam", "PassRole")
        .conditions(
            Map.of("StringEquals", Map.of("iam:PassedToService", "scheduler.amazonaws.com")))
        .build();
  }

  private Alias allowInvocation(FunctionWithRoles function) {
    Alias alias = function.live();
    role.addToPolicy(
        PolicyStatement.Builder.create()
            .actions(List.of("lambda:InvokeFunction"))
            .resources(List.of(alias.getFunctionArn()))
            .build());
    // A schedule invokes asynchronously, and Lambda would otherwise retry for six hours.
    alias.configureAsyncInvoke(
        EventInvokeConfigOptions.builder().maxEventAge(MAX_EVENT_AGE).retryAttempts(0).build());
    return alias;
  }
}
