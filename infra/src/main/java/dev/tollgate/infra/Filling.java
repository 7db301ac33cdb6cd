package dev.tollgate.infra;

import io.github.cdklabs.cdknag.NagPackSuppression;
import io.github.cdklabs.cdknag.NagSuppressions;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import software.amazon.awscdk.Aws;
import software.amazon.awscdk.Duration;
import software.amazon.awscdk.services.iam.Effect;
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
 * What fills buckets every minute: the group of their schedules, which the control plane makes as
 * tenants come, and the role that these act with, to invoke the token producer or to send tokens
 * themselves. What else runs every minute, the sweep and the housekeeper, has its schedule in the
 * same group.
 */
final class Filling extends Construct {
  /** Later than this the next minute's event makes up for a lost one. */
  private static final Duration MAX_EVENT_AGE = Duration.seconds(60);

  private final String prefix;
  private final String groupName;
  private final CfnScheduleGroup group;
  private final Queue deadLetters;
  private final Role role;

  Filling(Construct scope, TollgateProps props) {
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
                    "This is the dead-letter queue, of schedules: EventBridge Scheduler puts here "
                        + "the events that it could not deliver.")
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
            .description("What the schedules of the group may do.")
            .build();
    role.addToPolicy(
        PolicyStatement.Builder.create()
            .actions(List.of("sqs:SendMessage"))
            .resources(List.of(deadLetters.getQueueArn()))
            .build());
    role.addToPolicy(
        Policies.statement(List.of(Policies.arn(role, "sqs", bucketName())), "sqs", "SendMessage")
            .build());
    if (prefix.isEmpty()) {
      // Neither actions nor tenant ids hold an underscore, prefixes end with one.
      role.addToPolicy(
          Policies.statement(List.of(Policies.arn(role, "sqs", "*_*_" + bucketName())), "sqs", "*")
              .effect(Effect.DENY)
              .build());
    }
    Policies.accept(
        role,
        Policies.finding("sqs", bucketName()),
        "A schedule may send tokens by itself, to the bucket that its input names. The control "
            + "plane and the token producer alone make schedules in the group; without a prefix, a "
            + "Deny keeps the star from matching another deployment's.");
  }

  private String bucketName() {
    return prefix + "*_token_bucket";
  }

  /** Has buckets' schedules invoke a function, and tells it how to change them. */
  void by(TenantFunction tokenProducer) {
    mayInvoke(tokenProducer);
    tokenProducer.tenantSchedules(this, "CreateSchedule", "UpdateSchedule", "DeleteSchedule");
  }

  /** Runs a function every minute. */
  void everyMinute(TenantFunction function) {
    String id = function.getNode().getId();
    CfnSchedule.Builder.create(this, id)
        .name(prefix + id.toLowerCase(Locale.ROOT))
        .groupName(group.getRef())
        // cron keeps to the minute; rate() counts from whenever the schedule was changed last.
        .scheduleExpression("cron(* * * * ? *)")
        .flexibleTimeWindow(CfnSchedule.FlexibleTimeWindowProperty.builder().mode("OFF").build())
        .target(
            CfnSchedule.TargetProperty.builder()
                .arn(mayInvoke(function).getFunctionArn())
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

  String groupName() {
    return groupName;
  }

  Queue deadLetters() {
    return deadLetters;
  }

  Role role() {
    return role;
  }

  /** The schedules of shards, which are no tenant's, as an ARN names them. */
  String shards() {
    return "schedule/" + groupName + "/shard-*";
  }

  /** What whoever makes schedules must be allowed besides. */
  PolicyStatement passingOfItsRole() {
    return Policies.statement(List.of(role.getRoleArn()), "iam", "PassRole")
        .conditions(
            Map.of("StringEquals", Map.of("iam:PassedToService", "scheduler.amazonaws.com")))
        .build();
  }

  private Alias mayInvoke(TenantFunction function) {
    Alias alias = function.live();
    role.addToPolicy(
        PolicyStatement.Builder.create()
            .actions(List.of("lambda:InvokeFunction"))
            .resources(List.of(alias.getFunctionArn()))
            .build());
    // A schedule invokes asynchronously, and Lambda would try again for six hours.
    alias.configureAsyncInvoke(
        EventInvokeConfigOptions.builder().maxEventAge(MAX_EVENT_AGE).retryAttempts(0).build());
    return alias;
  }
}
