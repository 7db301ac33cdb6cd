package dev.tollgate.local.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.testing.ManualClock;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ValidationTest {
  private final Scheduler scheduler =
      Schedulers.started(
          new ManualClock(Instant.parse("2026-03-01T12:00:00Z")),
          new RecordingTargets(),
          Optional.empty());

  @AfterEach
  void close() {
    scheduler.close();
  }

  /** What a request is changed by, and what it is refused with; nothing means that it is taken. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '~',
      textBlock =
          """
          {}                                                                   |
          {"FlexibleTimeWindow":null}                                          | Value null at 'flexibleTimeWindow' failed to satisfy constraint: Member must not be null
          {"FlexibleTimeWindow":{}}                                            | Value null at 'flexibleTimeWindow.mode' failed to satisfy constraint: Member must not be null
          {"FlexibleTimeWindow":{"Mode":"ON"}}                                 | at 'flexibleTimeWindow.mode' failed to satisfy constraint: Member must satisfy enum value set: [OFF, FLEXIBLE]
          {"FlexibleTimeWindow":{"Mode":"FLEXIBLE"}}                           | MaximumWindowInMinutes is required
          {"FlexibleTimeWindow":{"Mode":"FLEXIBLE","MaximumWindowInMinutes":1}}    |
          {"FlexibleTimeWindow":{"Mode":"FLEXIBLE","MaximumWindowInMinutes":1440}} |
          {"FlexibleTimeWindow":{"Mode":"FLEXIBLE","MaximumWindowInMinutes":0}}    | Value '0' at 'flexibleTimeWindow.maximumWindowInMinutes' failed to satisfy constraint: Member must have value greater than or equal to 1
          {"FlexibleTimeWindow":{"Mode":"FLEXIBLE","MaximumWindowInMinutes":1441}} | less than or equal to 1440
          {"FlexibleTimeWindow":{"Mode":"OFF","MaximumWindowInMinutes":5}}     | MaximumWindowInMinutes is not allowed
          {"ScheduleExpression":null}                                          | Value null at 'scheduleExpression'
          {"ScheduleExpression":""}                                            | at 'scheduleExpression' failed to satisfy constraint: Member must have length greater than or equal to 1
          {"ScheduleExpression":"cron(0 1 * * * *)"}                           | Invalid Schedule Expression cron(0 1 * * * *).
          {"ScheduleExpression":"rate(5 minute)"}                              | Invalid Schedule Expression rate(5 minute).
          {"ScheduleExpressionTimezone":"Europe/Berlin"}                       |
          {"ScheduleExpressionTimezone":"Europe/Atlantis"}                     | Invalid ScheduleExpressionTimezone Europe/Atlantis.
          {"ScheduleExpressionTimezone":"+02:00"}                              | Invalid ScheduleExpressionTimezone +02:00.
          {"State":"PAUSED"}                                                   | at 'state' failed to satisfy constraint: Member must satisfy enum value set: [ENABLED, DISABLED]
          {"ActionAfterCompletion":"KEEP"}                                     | at 'actionAfterCompletion'
          {"ClientToken":"a-B_9"}                                              |
          {"ClientToken":"a.b"}                                                | at 'clientToken' failed to satisfy constraint: Member must satisfy regular expression pattern: ^[a-zA-Z0-9-_]+$
          {"GroupName":"no group!"}                                            | at 'groupName'
          {"KmsKeyArn":"key"}                                                  | at 'kmsKeyArn'
          {"StartDate":"2026-03-01T11:55:00Z"}                                 |
          {"StartDate":"2026-03-01T11:54:59Z"}                                 | The StartDate you specify cannot be earlier than 5 minutes ago.
          {"StartDate":1772366400,"EndDate":1772366400}                        | The EndDate you specify must be later than the StartDate.
          {"EndDate":"2026-03-01T12:00:00Z"}                                   | The EndDate you specify must be in the future.
          {"StartDate":"2020-01-01T00:00:00Z","ScheduleExpression":"at(2027-01-01T00:00:00)"} |
          {"StartDate":"soon"}                                                 | startDate: expected a time
          {"Description":7}                                                    | description: expected a string
          {"Target":"function"}                                                | target: expected an object
          {"Target":null}                                                      | Value null at 'target'
          {"Target":{"Arn":null}}                                              | Value null at 'target.arn'
          {"Target":{"RoleArn":null}}                                          | Value null at 'target.roleArn'
          {"Target":{"RoleArn":"arn:aws:iam::1:role/x"}}                       | at 'target.roleArn' failed to satisfy constraint: Member must satisfy regular expression pattern
          {"Target":{"Arn":"queue"}}                                           | is not run locally (expected: the ARN of a function, a queue or a universal target).
          {"Target":{"Arn":"arn:aws:sns:us-east-1:000000000000:topic"}}        | Target arn:aws:sns:us-east-1:000000000000:topic is not run locally
          {"Target":{"Arn":"arn:aws:scheduler:::aws-sdk:sqs:sendMessage","Input":"{\\"QueueUrl\\":\\"u\\",\\"MessageBody\\":\\"b\\"}"}} |
          {"Target":{"Arn":"arn:aws:scheduler:::aws-sdk:sqs:sendMessageBatch","Input":"{\\"QueueUrl\\":\\"u\\",\\"Entries\\":[]}"}} |
          {"Target":{"Arn":"arn:aws:scheduler:::aws-sdk:sqs:sendMessageBatch","Input":"{\\"QueueUrl\\":\\"u\\",\\"MessageBody\\":\\"b\\"}"}} | (expected: an object with QueueUrl and Entries).
          {"Target":{"Arn":"arn:aws:scheduler:::aws-sdk:sqs:sendMessage","Input":"{\\"queueUrl\\":\\"u\\",\\"MessageBody\\":\\"b\\"}"}} | (expected: an object with QueueUrl and MessageBody).
          {"Target":{"Arn":"arn:aws:scheduler:::aws-sdk:sqs:sendMessage","Input":null}} | Input is required for universal target arn:aws:scheduler:::aws-sdk:sqs:sendMessage
          {"Target":{"Arn":"arn:aws:scheduler:::aws-sdk:sqs:sendMessage","Input":"text"}} | Invalid JSON provided for Target Input: text
          {"Target":{"Arn":"arn:aws:scheduler:::aws-sdk:sqs:sendMessage","Input":"[]"}} | (expected: an object with QueueUrl and MessageBody).
          {"Target":{"Arn":"arn:aws:scheduler:::aws-sdk:sqs:sendMessage","RoleArn":null}} | Value null at 'target.roleArn'
          {"Target":{"Arn":"arn:aws:scheduler:::aws-sdk:sqs:sendMessage","SqsParameters":{"MessageGroupId":"g"}}} | SqsParameters does not apply
          {"Target":{"Arn":"arn:aws:scheduler:::aws-sdk:sqs:deleteMessage"}} | is not run locally (expected: arn:aws:scheduler:::aws-sdk: and one of [cloudformation:deleteStack, sqs:sendMessage, sqs:sendMessageBatch]).
          {"Target":{"Arn":"arn:aws:scheduler:::aws-sdk:cloudformation:deleteStack","Input":"{\\"StackName\\":\\"s\\"}"}} |
          {"Target":{"Arn":"arn:aws:scheduler:::aws-sdk:cloudformation:deleteStack","Input":"{}"}} | (expected: an object with StackName).
          {"Target":{"Arn":"arn:aws:scheduler:::aws-sdk:dynamodb:putItem"}} | is not run locally (expected: arn:aws:scheduler:::aws-sdk: and one of
          {"Target":{"Arn":"arn:aws:scheduler:::aws-sdk:sqs:getQueueUrl"}} | is not run locally (expected: arn:aws:scheduler:::aws-sdk: and one of
          {"Target":{"Arn":"arn:aws:scheduler:::aws-sdk:sqs:receiveMessage"}} | is not run locally (expected: arn:aws:scheduler:::aws-sdk: and one of
          {"Target":{"Arn":"arn:aws:scheduler:::aws-sdk:dynamodb:batchGetItem"}} | is not run locally (expected: arn:aws:scheduler:::aws-sdk: and one of
          {"Target":{"Arn":"arn:aws:scheduler:::aws-sdk:SQS:SendMessage"}} | is not run locally (expected: the ARN of a function, a queue or a universal target).
          {"Target":{"Arn":"arn:aws:scheduler:::aws-sdk:sqs"}} | is not run locally (expected: the ARN of a function, a queue or a universal target).
          {"Target":{"Arn":"arn:aws:scheduler:us-east-1:000000000000:aws-sdk:sqs:sendMessage"}} | is not run locally (expected: the ARN of a function, a queue or a universal target).
          {"Target":{"Arn":"arn:aws:sqs:us-east-1:000000000000:q.fifo"}}       | SqsParameters.MessageGroupId is required
          {"Target":{"Arn":"arn:aws:sqs:us-east-1:000000000000:q.fifo","SqsParameters":{"MessageGroupId":"g"}}} |
          {"Target":{"Arn":"arn:aws:lambda:us-east-1:000000000000:function:f","Input":"{\\"a\\":1}"}} |
          {"Target":{"Arn":"arn:aws:lambda:us-east-1:000000000000:function:f:live","Input":"7"}}  |
          {"Target":{"Arn":"arn:aws:lambda:us-east-1:000000000000:function:f","Input":"text"}}    | Invalid JSON provided for Target Input
          {"Target":{"Arn":"arn:aws:lambda:us-east-1:000000000000:function:f","Input":"{} {}"}}   | Invalid JSON provided for Target Input
          {"Target":{"Input":""}}                                              | at 'target.input' failed to satisfy constraint: Member must have length greater than or equal to 1
          {"Target":{"KinesisParameters":{"PartitionKey":"k"}}}                | KinesisParameters is not run locally.
          {"Target":{"DeadLetterConfig":{"Arn":"arn:aws:sqs:us-east-1:000000000000:dlq"}}}      |
          {"Target":{"DeadLetterConfig":{"Arn":"arn:aws:sqs:us-east-1:000000000000:dlq.fifo"}}} | at 'target.deadLetterConfig.arn'
          {"Target":{"RetryPolicy":{"MaximumRetryAttempts":0,"MaximumEventAgeInSeconds":60}}}      |
          {"Target":{"RetryPolicy":{"MaximumRetryAttempts":185,"MaximumEventAgeInSeconds":86400}}} |
          {"Target":{"RetryPolicy":{"MaximumRetryAttempts":186}}}              | at 'target.retryPolicy.maximumRetryAttempts' failed to satisfy constraint: Member must have value less than or equal to 185
          {"Target":{"RetryPolicy":{"MaximumRetryAttempts":-1}}}               | greater than or equal to 0
          {"Target":{"RetryPolicy":{"MaximumRetryAttempts":"2"}}}              |
          {"Target":{"RetryPolicy":{"MaximumRetryAttempts":1.5}}}              | expected an integer
          {"Target":{"RetryPolicy":{"MaximumEventAgeInSeconds":59}}}           | at 'target.retryPolicy.maximumEventAgeInSeconds' failed to satisfy constraint: Member must have value greater than or equal to 60
          {"Target":{"RetryPolicy":{"MaximumEventAgeInSeconds":86401}}}        | less than or equal to 86400
          """)
  void request_is_taken_or_refused(String change, String refusal) throws Exception {
    ObjectNode request = Requests.queue("cron(* * * * ? *)");
    Json.readStrictly(change)
        .properties()
        .forEach(
            member -> {
              if (member.getValue().isObject() && member.getKey().equals("Target")) {
                ((ObjectNode) request.get("Target")).setAll((ObjectNode) member.getValue());
              } else {
                request.set(member.getKey(), member.getValue());
              }
            });
    if (refusal == null) {
      assertThat(scheduler.createSchedule("a", request)).endsWith("/a");
    } else {
      assertThatThrownBy(() -> scheduler.createSchedule("a", request))
          .isInstanceOf(ApiException.class)
          .hasMessageContaining(refusal)
          .extracting(e -> ((ApiException) e).status())
          .isEqualTo(400);
      assertThat(scheduler.schedules()).isEmpty();
    }
  }

  @Test
  void all_violations_are_named_at_once() {
    ObjectNode request = Requests.queue("rate(1 day)").put("State", "PAUSED");
    request.remove("FlexibleTimeWindow");
    assertThatThrownBy(() -> scheduler.createSchedule("a b", request))
        .hasMessageStartingWith("3 validation errors detected: Value 'a b' at 'name' failed")
        .hasMessageContaining("; Value null at 'flexibleTimeWindow'")
        .hasMessageContaining("; Value 'PAUSED' at 'state'");
  }

  @Test
  void lengths_are_bounded() {
    ObjectNode request = Requests.queue("rate(1 day)");
    scheduler.createSchedule("n".repeat(64), request.put("Description", "d".repeat(512)));
    assertThatThrownBy(() -> scheduler.createSchedule("n".repeat(65), request))
        .hasMessageContaining("length less than or equal to 64");
    assertThatThrownBy(
            () -> scheduler.createSchedule("m", request.put("Description", "d".repeat(513))))
        .hasMessageContaining("length less than or equal to 512");
    assertThatThrownBy(() -> scheduler.createSchedule("", Requests.queue("rate(1 day)")))
        .hasMessageContaining("at 'name'");
  }

  @Test
  void a_group_has_at_most_50_tags() {
    Map<String, String> tags =
        IntStream.range(0, 50).boxed().collect(Collectors.toMap(i -> "key" + i, i -> "value"));
    scheduler.createGroup("g", tags, Optional.empty());
    assertThatThrownBy(() -> scheduler.tag(scheduler.requireGroup("g"), Map.of("one", "more")))
        .isInstanceOf(ApiException.class);
  }
}
