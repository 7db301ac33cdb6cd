package dev.tollgate.e2e.models;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.e2e.models.ServiceModels.Result;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.endpoint.Exchange;
import dev.tollgate.local.endpoint.Principal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.core.SdkField;
import software.amazon.awssdk.services.lambda.model.EventSourceMappingConfiguration;
import software.amazon.awssdk.services.lambda.model.Runtime;

/** The validator finds what AWS's models do not allow, in documents that are written here. */
class ServiceModelsTest {
  private static final String FORM = "application/x-www-form-urlencoded";
  private static final ServiceModels MODELS = new ServiceModels();

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          AmazonSQS.SendMessageBatch | {"QueueUrl":"q","Entries":[{"Id":"0","MessageBody":"b","DelaySeconds":900}]}
          AmazonSQS.CreateQueue | {"QueueName":"q","Attributes":{"FifoQueue":"true"},"tags":{"a":"b"}}
          DynamoDB_20120810.GetItem | {"TableName":"T","Key":{"k":{"S":"v"}},"ConsistentRead":true}
          DynamoDB_20120810.PutItem | {"TableName":"T","Item":{"b":{"B":"AAE="},"n":{"N":"1"},"l":{"L":[{"NULL":true}]}}}
          DynamoDB_20120810.Query | {"TableName":"T","Limit":1,"ReturnConsumedCapacity":"TOTAL"}
          DynamoDBStreams_20120810.GetRecords | {"ShardIterator":"i","Limit":1000}
          """)
  void a_valid_request_in_json_has_no_violations(String target, String body) {
    assertThat(request(json(target, body))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          AmazonSQS.SendMessageBatch | {"QueueUrl":"q","Entries":[{"Id":"0","MessageBody":"b","Delay":5}]} | Entries[].Delay: 5 (expected: a member of SendMessageBatchRequestEntry)
          AmazonSQS.SendMessageBatch | {"QueueUrl":"q","Entries":[{"Id":"0","MessageBody":"b","DelaySeconds":"5"}]} | Entries[].DelaySeconds: "5" (expected: integer)
          AmazonSQS.SendMessageBatch | {"QueueUrl":"q"} | Entries: absent (expected: required)
          AmazonSQS.SendMessageBatch | {"QueueUrl":"q","Entries":{}} | Entries: {} (expected: list)
          AmazonSQS.SendMessageBatch | {"QueueUrl":"q","Entries":[1]} | Entries[]: 1 (expected: structure)
          AmazonSQS.SendMessage | {"QueueUrl":"q","MessageBody":1} | MessageBody: 1 (expected: string)
          AmazonSQS.SendMessage | {"QueueUrl":"q","MessageBody":"b","MessageAttributes":{"a":{"DataType":"Binary","BinaryValue":"%"}}} | MessageAttributes{}.BinaryValue: "%" (expected: bytes in Base64)
          DynamoDB_20120810.Query | {"TableName":"T","Limit":0} | Limit: 0 (expected: at least 1)
          DynamoDB_20120810.Query | {"TableName":"T","Limit":1.5} | Limit: 1.5 (expected: integer)
          DynamoDB_20120810.Query | {"TableName":"T","Limit":3000000000} | Limit: 3000000000 (expected: integer)
          DynamoDB_20120810.Query | {"TableName":"T","ConsistentRead":"true"} | ConsistentRead: "true" (expected: boolean)
          DynamoDB_20120810.UpdateItem | {"TableName":"T","Key":{"k":{"S":"v"}},"ReturnValues":"ALL"} | ReturnValues: ALL (expected: one of ["NONE","ALL_OLD","UPDATED_OLD","ALL_NEW","UPDATED_NEW"])
          DynamoDB_20120810.BatchGetItem | {"RequestItems":{}} | RequestItems: {} (expected: at least 1 entries)
          DynamoDB_20120810.BatchGetItem | {"RequestItems":{"T":{"Keys":[]}}} | RequestItems{}.Keys: [] (expected: at least 1 elements)
          DynamoDB_20120810.GetItem | [] | body: [] (expected: a JSON object)
          """)
  void an_invalid_request_in_json_is_found(String target, String body, String violation) {
    assertThat(request(json(target, body))).contains(violation);
  }

  @Test
  void an_unknown_operation_and_a_wrong_content_type_are_found() {
    assertThat(request(json("AmazonSQS.Sendmessage", "{}")))
        .containsExactly(
            "operation: POST / AmazonSQS.Sendmessage (expected: an operation of the model)");
    assertThat(request(json("SQS.SendMessage", "{}")))
        .first()
        .asString()
        .startsWith("service: SQS");
    assertThat(
            request(
                exchange(
                    "sqs",
                    "POST",
                    "/",
                    Map.of("X-Amz-Target", "AmazonSQS.ListQueues", "Content-Type", "text/plain"),
                    "{}",
                    200,
                    Map.of(),
                    "{}")))
        .containsExactly("Content-Type: text/plain (expected: application/x-amz-json-1.0)");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          scheduler | POST | /schedules/s | {"FlexibleTimeWindow":{"Mode":"OFF"},"ScheduleExpression":"rate(1 minute)","Target":{"Arn":"a","RoleArn":"arn:aws:iam::000000000000:role/R"}}
          scheduler | GET | /schedules?ScheduleGroup=g&MaxResults=100 |
          scheduler | DELETE | /tags/arn%3Aaws%3Ascheduler%3Aus-east-1%3A000000000000%3Aschedule-group%2Fg?TagKeys=a&TagKeys=b |
          lambda | POST | /2015-03-31/functions/arn%3Aaws%3Alambda%3Aus-east-1%3A000000000000%3Afunction%3Af/invocations?Qualifier=live | anything
          lambda | GET | /2015-03-31/event-source-mappings?FunctionName=f&MaxItems=1 |
          execute-api | POST | /api/prod/@connections/C%3D | text
          """)
  void a_valid_request_of_a_rest_api_has_no_violations(
      String service, String method, String target, String body) {
    assertThat(request(rest(service, method, target, body))).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          scheduler | GET | /schedules?Group=g | | query Group: g (expected: a parameter of ListSchedules)
          scheduler | GET | /schedules?MaxResults=101 | | MaxResults: 101 (expected: at most 100)
          scheduler | GET | /schedules?MaxResults=x | | MaxResults: "x" (expected: integer)
          scheduler | GET | /schedules/a%20b | | Name: "a b" (expected: ^[0-9a-zA-Z-_.]+$)
          scheduler | PATCH | /schedules/s | | operation: PATCH /schedules/s  (expected: an operation of the model)
          scheduler | POST | /schedules/s | {"Target":{"RetryPolicy":{"MaximumRetryAttempts":186}}} | Target.RetryPolicy.MaximumRetryAttempts: 186 (expected: at most 185)
          scheduler | POST | /schedules/s | {"FlexibleTimeWindow":{"Mode":"NONE"}} | FlexibleTimeWindow.Mode: NONE (expected: one of ["OFF","FLEXIBLE"])
          scheduler | POST | /schedules/s | {"StartDate":"2026-01-01"} | StartDate: "2026-01-01" (expected: seconds since the epoch)
          scheduler | POST | /schedules/s | {"Target":{"Arn":"arn:aws:scheduler:::aws-sdk:sqs:sendMessageBatch","Input":"{\\"QueueUrl\\":\\"q\\",\\"Entries\\":[{\\"Id\\":\\"0\\",\\"Body\\":\\"b\\"}]}"}} | Target.Input.Entries[].Body: "b" (expected: a member of SendMessageBatchRequestEntry)
          scheduler | PUT | /schedules/s | {"Target":{"Arn":"arn:aws:scheduler:::aws-sdk:sqs:sendMessages","Input":"{}"}} | Target.Arn: arn:aws:scheduler:::aws-sdk:sqs:sendMessages (expected: an operation of a model)
          scheduler | PUT | /schedules/s | {"Target":{"Arn":"arn:aws:scheduler:::aws-sdk:sqs:sendMessage","Input":"text"}} | Target.Input: text (expected: JSON)
          lambda | GET | /2015-03-31/event-source-mappings?MaxItems=0 | | MaxItems: 0 (expected: at least 1)
          lambda | POST | /2015-03-31/functions | {"Timeout":0} | Timeout: 0 (expected: at least 1)
          """)
  void an_invalid_request_of_a_rest_api_is_found(
      String service, String method, String target, String body, String violation) {
    assertThat(request(rest(service, method, target, body))).contains(violation);
  }

  @Test
  void a_text_that_is_too_long_is_found_by_its_characters_and_a_body_by_its_bytes() {
    String description = "{\"Description\":\"%s\"}".formatted("\uD83D\uDE00".repeat(513));
    String frame = "\u00e9".repeat(64 * 1024) + "x";

    assertThat(request(rest("scheduler", "POST", "/schedules/s", description)))
        .anyMatch(one -> one.startsWith("Description: ") && one.contains("at most 512 characters"));
    assertThat(
            request(
                rest(
                    "scheduler",
                    "POST",
                    "/schedules/s",
                    description.replaceFirst("\uD83D\uDE00", ""))))
        .noneMatch(one -> one.startsWith("Description: "));
    assertThat(request(rest("execute-api", "POST", "/a/prod/@connections/C", frame)))
        .anyMatch(one -> one.startsWith("Data: ") && one.contains("at most 131072 bytes"));
  }

  @Test
  void a_form_is_validated_by_the_names_and_the_values_of_its_parameters() {
    String valid =
        "Action=AssumeRole&Version=2011-06-15&RoleArn=arn:aws:iam::000000000000:role/R"
            + "&RoleSessionName=acme&DurationSeconds=3600&Tags.member.1.Key=k&Tags.member.1.Value=v";
    assertThat(request(form("sts", "/", valid))).isEmpty();
    assertThat(request(form("sts", "/", valid.replace("3600", "60"))))
        .containsExactly("DurationSeconds: 60 (expected: at least 900)");
    assertThat(request(form("sts", "/", valid.replace("acme", "a%20b"))))
        .containsExactly("RoleSessionName: \"a b\" (expected: [\\w+=,.@-]*)");
    assertThat(request(form("sts", "/", valid.replace("Tags.member.1.Value", "Tags.1.Value"))))
        .containsExactlyInAnyOrder(
            "Tags.1.Value: v (expected: a parameter of AssumeRole)",
            "Tags[].Value: absent (expected: required)");
    assertThat(request(form("sts", "/", valid.replace("2011-06-15", "2011"))))
        .containsExactly("Version: 2011 (expected: 2011-06-15)");

    String batch =
        "Action=SendMessageBatch&Version=2012-11-05"
            + "&SendMessageBatchRequestEntry.1.Id=s&SendMessageBatchRequestEntry.1.MessageBody=b"
            + "&SendMessageBatchRequestEntry.1.MessageAttribute.1.Name=n"
            + "&SendMessageBatchRequestEntry.1.MessageAttribute.1.Value.DataType=String"
            + "&SendMessageBatchRequestEntry.1.MessageAttribute.1.Value.StringValue=v";
    assertThat(request(form("sqs", "/000000000000/q", batch))).isEmpty();
    assertThat(request(form("sqs", "/000000000000/q", batch + "&MessageGroupId=g")))
        .containsExactly("MessageGroupId: g (expected: a parameter of SendMessageBatch)");
  }

  @Test
  void an_answer_is_validated_by_the_output_of_its_operation() {
    assertThat(answer("AmazonSQS.SendMessage", 200, "{\"MessageId\":1}"))
        .containsExactly("MessageId: 1 (expected: string)");
    assertThat(answer("AmazonSQS.DeleteMessage", 200, "")).isEmpty();
    assertThat(answer("DynamoDB_20120810.GetItem", 200, "{\"Item\":{\"a\":{\"X\":\"1\"}}}"))
        .containsExactly("Item{}.X: \"1\" (expected: a member of AttributeValue)");
    assertThat(rest("lambda", "GET", "/2015-03-31/functions/f", 202, Map.of(), "{}"))
        .containsExactly("status: 202 (expected: 200)");
    assertThat(
            rest(
                "execute-api",
                "GET",
                "/a/prod/@connections/C",
                200,
                Map.of(),
                "{\"connectedAt\":\"2026-01-01T00:00:00Z\",\"lastActiveAt\":\"now\"}"))
        .containsExactly("lastActiveAt: \"now\" (expected: time of ISO 8601)");
    assertThat(
            answer(
                form(
                    "sts",
                    "/",
                    "Action=AssumeRole",
                    """
                    <AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>AKIA</AccessKeyId>
                    <SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>
                    <Expiration>2026-01-01T00:00:00Z</Expiration></Credentials><Role>R</Role>
                    </AssumeRoleResult></AssumeRoleResponse>
                    """)))
        .containsExactly(
            "Credentials.AccessKeyId: \"AKIA\" (expected: at least 16 characters)",
            "Role: \"R\" (expected: a member of AssumeRoleResponse)");
  }

  @Test
  void an_error_is_one_of_its_operation_or_of_every_operation() {
    assertThat(
            answer(
                "AmazonSQS.SendMessage",
                400,
                "{\"__type\":\"com.amazonaws.sqs#QueueDoesNotExist\"}"))
        .isEmpty();
    assertThat(
            answer(
                "AmazonSQS.ListQueues", 400, "{\"__type\":\"com.amazonaws.sqs#QueueNameExists\"}"))
        .containsExactly("error QueueNameExists: 400 (expected: an error of ListQueues)");
    assertThat(answer("DynamoDB_20120810.Query", 400, "{\"__type\":\"x#ValidationException\"}"))
        .isEmpty();
    assertThat(
            rest(
                "scheduler",
                "GET",
                "/schedules/s",
                400,
                Map.of("x-amzn-ErrorType", "ResourceNotFoundException"),
                "{}"))
        .containsExactly("status of ResourceNotFoundException: 400 (expected: 404)");
  }

  @Test
  void the_sdk_knows_what_is_added_to_the_models() {
    assertThat(Runtime.fromValue("java25")).isEqualTo(Runtime.JAVA25);
    assertThat(EventSourceMappingConfiguration.builder().sdkFields())
        .extracting(SdkField::locationName)
        .contains("EventSourceMappingArn");
  }

  private static List<String> request(Exchange exchange) {
    return MODELS.validate(exchange).request().stream().map(Violation::toString).toList();
  }

  private static List<String> answer(Exchange exchange) {
    Result result = MODELS.validate(exchange);
    return result.answer().orElseThrow().stream().map(Violation::toString).toList();
  }

  private static List<String> answer(String target, int status, String body) {
    return answer(
        exchange("sqs", "POST", "/", Map.of("X-Amz-Target", target), "{}", status, Map.of(), body));
  }

  private static List<String> rest(
      String service,
      String method,
      String target,
      int status,
      Map<String, String> headers,
      String answer) {
    return answer(exchange(service, method, target, Map.of(), "", status, headers, answer));
  }

  private static Exchange rest(String service, String method, String target, String body) {
    return exchange(
        service, method, target, Map.of(), body == null ? "" : body, 200, Map.of(), "{}");
  }

  private static Exchange json(String target, String body) {
    return exchange(
        "sqs",
        "POST",
        "/",
        Map.of("X-Amz-Target", target, "Content-Type", "application/x-amz-json-1.0"),
        body,
        200,
        Map.of(),
        "{}");
  }

  private static Exchange form(String service, String path, String body) {
    return form(service, path, body, "<x/>");
  }

  private static Exchange form(String service, String path, String body, String answer) {
    return exchange(
        service, "POST", path, Map.of("Content-Type", FORM), body, 200, Map.of(), answer);
  }

  private static Exchange exchange(
      String service,
      String method,
      String target,
      Map<String, String> headers,
      String body,
      int status,
      Map<String, String> answerHeaders,
      String answer) {
    Map<String, String> sent = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    sent.putAll(headers);
    return new Exchange(
        new Call(
            service,
            "unknown",
            Principal.of("test", "arn:aws:iam::000000000000:role/test"),
            "AKIA",
            Instant.EPOCH,
            Optional.empty(),
            method,
            target.replaceAll("[?].*", ""),
            Map.of(),
            body),
        target,
        sent,
        status,
        answerHeaders,
        Optional.of(answer));
  }
}
