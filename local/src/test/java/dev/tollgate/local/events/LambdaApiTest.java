package dev.tollgate.local.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.lambda.model.Architecture;
import software.amazon.awssdk.services.lambda.model.CreateFunctionRequest;
import software.amazon.awssdk.services.lambda.model.EventSourceMappingConfiguration;
import software.amazon.awssdk.services.lambda.model.FunctionConfiguration;
import software.amazon.awssdk.services.lambda.model.GetAccountSettingsRequest;
import software.amazon.awssdk.services.lambda.model.GetAccountSettingsResponse;
import software.amazon.awssdk.services.lambda.model.GetFunctionResponse;
import software.amazon.awssdk.services.lambda.model.InvalidParameterValueException;
import software.amazon.awssdk.services.lambda.model.LambdaException;
import software.amazon.awssdk.services.lambda.model.LastUpdateStatus;
import software.amazon.awssdk.services.lambda.model.PreconditionFailedException;
import software.amazon.awssdk.services.lambda.model.ResourceConflictException;
import software.amazon.awssdk.services.lambda.model.ResourceNotFoundException;
import software.amazon.awssdk.services.lambda.model.State;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** Lambda's API for functions and mappings, as the AWS SDK speaks it. */
final class LambdaApiTest {
  @TempDir static Path directory = Path.of("");
  private static EventsCloud cloud;

  @BeforeAll
  static void start() {
    cloud = EventsCloud.start(directory, false);
  }

  @AfterAll
  static void stop() {
    cloud.close();
  }

  @Test
  void created_function_isTold_and_invoked_with_its_environment_and_role() throws Exception {
    cloud.lambda.createFunction(
        EventsCloud.function("made", "Introspector")
            .memorySize(256)
            .architectures(Architecture.ARM64)
            .description("made here")
            .environment(e -> e.variables(Map.of("TABLE", "t")))
            .build());

    cloud.lambda.waiter().waitUntilFunctionActiveV2(r -> r.functionName("made"));
    GetFunctionResponse told = cloud.lambda.getFunction(r -> r.functionName("made"));
    FunctionConfiguration made = told.configuration();
    assertThat(made.functionArn()).isEqualTo(EventsCloud.FUNCTIONS + "made");
    assertThat(made.state()).isEqualTo(State.ACTIVE);
    assertThat(made.lastUpdateStatus()).isEqualTo(LastUpdateStatus.SUCCESSFUL);
    assertThat(made.memorySize()).isEqualTo(256);
    assertThat(made.timeout()).isEqualTo(15);
    assertThat(made.role()).isEqualTo(EventsCloud.ROLE);
    assertThat(made.version()).isEqualTo("$LATEST");
    assertThat(made.architectures()).containsExactly(Architecture.ARM64);
    assertThat(made.environment().variables()).containsExactly(Map.entry("TABLE", "t"));
    assertThat(made.codeSize()).isEqualTo(Files.size(directory.resolve("code.jar")));
    assertThat(told.code().location()).startsWith("file:/");

    var environment =
        new ObjectMapper()
            .readTree(
                cloud
                    .lambda
                    .invoke(r -> r.functionName("made").payload(SdkBytes.fromUtf8String("{}")))
                    .payload()
                    .asUtf8String())
            .path("environment");
    assertThat(environment.path("TABLE").asText()).isEqualTo("t");
    assertThat(environment.path("AWS_ENDPOINT_URL").asText())
        .isEqualTo(cloud.cloud.endpoint().toString());
    assertThat(environment.path("AWS_SESSION_TOKEN").asText()).isNotEmpty();
  }

  @Test
  void account_settings_count_functions_and_their_code() throws Exception {
    GetAccountSettingsResponse before =
        cloud.lambda.getAccountSettings(GetAccountSettingsRequest.builder().build());
    cloud.lambda.createFunction(EventsCloud.function("counted", "Introspector").build());
    GetAccountSettingsResponse after =
        cloud.lambda.getAccountSettings(GetAccountSettingsRequest.builder().build());

    assertThat(after.accountLimit()).isEqualTo(before.accountLimit());
    assertThat(after.accountLimit().unreservedConcurrentExecutions()).isEqualTo(1_000);
    assertThat(after.accountLimit().totalCodeSize()).isEqualTo(75L << 30);
    assertThat(after.accountUsage().functionCount() - before.accountUsage().functionCount())
        .isEqualTo(1);
    assertThat(after.accountUsage().totalCodeSize() - before.accountUsage().totalCodeSize())
        .isEqualTo(Files.size(directory.resolve("code.jar")));
  }

  @Test
  void function_of_the_stack_isTold_by_the_arn_of_its_version_and_alias() {
    String arn = cloud.cloud.outputs().getOrDefault("PoolVersion", "");
    assertThat(arn).isEqualTo(EventsCloud.FUNCTIONS + "Pool:1");

    FunctionConfiguration version =
        cloud.lambda.getFunction(r -> r.functionName(arn)).configuration();
    assertThat(version.functionArn()).isEqualTo(arn);
    assertThat(version.version()).isEqualTo("1");
    assertThat(version.environment().variables()).containsExactly(Map.entry("ITEMS", "Items"));
    assertThat(version.loggingConfig().logGroup()).isEqualTo("Log");
    assertThat(version.runtimeAsString()).isEqualTo("java21");

    assertThat(
            cloud
                .lambda
                .getFunctionConfiguration(r -> r.functionName("Pool").qualifier("live"))
                .version())
        .isEqualTo("1");
    assertThatThrownBy(() -> cloud.lambda.getFunction(r -> r.functionName("Pool").qualifier("7")))
        .isInstanceOf(ResourceNotFoundException.class)
        .hasMessageContaining("Function not found: " + EventsCloud.FUNCTIONS + "Pool:7");
    assertThatThrownBy(() -> cloud.lambda.deleteFunction(r -> r.functionName("Pool")))
        .isInstanceOf(InvalidParameterValueException.class);
  }

  @Test
  void function_that_isThere_cannot_be_created() {
    cloud.createFunction("twice", "Introspector");

    assertThatThrownBy(() -> cloud.createFunction("twice", "Introspector"))
        .isInstanceOfSatisfying(
            ResourceConflictException.class, e -> assertThat(e.statusCode()).isEqualTo(409))
        .hasMessageContaining("Function already exist: twice");
  }

  @Test
  void what_cannot_be_right_isRefused() {
    refused(
        EventsCloud.function("bad name", "Introspector"), "ValidationException", "functionName");
    refused(
        EventsCloud.function("f", "Introspector").timeout(901), "ValidationException", "timeout");
    refused(
        EventsCloud.function("f", "Introspector").memorySize(64),
        "ValidationException",
        "memorySize");
    refused(
        EventsCloud.function("f", "Introspector").handler("a b"), "ValidationException", "handler");
    refused(
        EventsCloud.function("f", "Introspector").runtime("java99"),
        "InvalidParameterValueException",
        "runtime");
    refused(
        EventsCloud.function("f", "Introspector").role("arn:aws:iam::000000000000:role/Nobody"),
        "InvalidParameterValueException",
        "The role defined for the function cannot be assumed by Lambda.");
    refused(
        EventsCloud.function("f", "Introspector").code(c -> c.s3Bucket("other").s3Key("code.jar")),
        "InvalidParameterValueException",
        "S3 Error Code: NoSuchKey");
    refused(
        EventsCloud.function("f", "Introspector")
            .environment(e -> e.variables(Map.of("AWS_REGION", "x"))),
        "InvalidParameterValueException",
        "Reserved keys used in this request: AWS_REGION");
    refused(
        EventsCloud.function("f", "Introspector")
            .code(c -> c.zipFile(SdkBytes.fromUtf8String("no zip"))),
        "InvalidParameterValueException",
        "Could not unzip");
  }

  private static void refused(CreateFunctionRequest.Builder request, String type, String message) {
    assertThatThrownBy(() -> cloud.lambda.createFunction(request.build()))
        .isInstanceOfSatisfying(
            LambdaException.class,
            e -> {
              assertThat(e.statusCode()).isEqualTo(400);
              assertThat(e.awsErrorDetails().errorCode()).isEqualTo(type);
            })
        .hasMessageContaining(message);
  }

  @Test
  void changed_configuration_and_code_hold_from_the_next_invocation_on() throws Exception {
    cloud.createFunction("changed", "Capitals");
    assertThat(invoke("changed", "\"a\"")).isEqualTo("\"A\"");
    String revision =
        cloud.lambda.getFunctionConfiguration(r -> r.functionName("changed")).revisionId();

    cloud.lambda.updateFunctionConfiguration(
        r ->
            r.functionName("changed")
                .handler("dev.tollgate.local.lambda.SampleHandlers$Greeter")
                .timeout(7)
                .revisionId(revision));
    assertThat(invoke("changed", "{\"name\":\"Ann\"}")).isEqualTo("{\"name\":\"Dear Ann\"}");
    assertThat(cloud.lambda.getFunctionConfiguration(r -> r.functionName("changed")).timeout())
        .isEqualTo(7);
    assertThatThrownBy(
            () ->
                cloud.lambda.updateFunctionConfiguration(
                    r -> r.functionName("changed").timeout(8).revisionId(revision)))
        .isInstanceOf(PreconditionFailedException.class);

    byte[] zip = Files.readAllBytes(directory.resolve("code.jar"));
    cloud.lambda.updateFunctionCode(
        r -> r.functionName("changed").zipFile(SdkBytes.fromByteArray(zip)));
    assertThat(invoke("changed", "{\"name\":\"Bob\"}")).isEqualTo("{\"name\":\"Dear Bob\"}");

    cloud.lambda.deleteFunction(r -> r.functionName("changed"));
    assertThatThrownBy(() -> invoke("changed", "{}")).isInstanceOf(ResourceNotFoundException.class);
  }

  @Test
  void mapping_isTold_as_it_was_asked_for() {
    cloud.createFunction("mapped", "Batches");
    for (String queue : List.of("m1.fifo", "m2.fifo", "m3.fifo")) {
      cloud.createQueue(
          queue,
          Map.of(
              QueueAttributeName.FIFO_QUEUE, "true", QueueAttributeName.VISIBILITY_TIMEOUT, "60"));
      cloud.lambda.createEventSourceMapping(
          r ->
              r.functionName("mapped")
                  .eventSourceArn(EventsCloud.queueArn(queue))
                  .batchSize(5)
                  .scalingConfig(s -> s.maximumConcurrency(4)));
    }

    List<EventSourceMappingConfiguration> all =
        cloud
            .lambda
            .listEventSourceMappingsPaginator(r -> r.functionName("mapped").maxItems(2))
            .eventSourceMappings()
            .stream()
            .toList();
    assertThat(all)
        .extracting(EventSourceMappingConfiguration::eventSourceArn)
        .containsExactlyInAnyOrder(
            EventsCloud.queueArn("m1.fifo"),
            EventsCloud.queueArn("m2.fifo"),
            EventsCloud.queueArn("m3.fifo"));
    assertThat(
            cloud
                .lambda
                .listEventSourceMappings(r -> r.eventSourceArn(EventsCloud.queueArn("m2.fifo")))
                .eventSourceMappings())
        .singleElement()
        .satisfies(
            one -> {
              assertThat(one.functionArn()).isEqualTo(EventsCloud.FUNCTIONS + "mapped");
              assertThat(one.batchSize()).isEqualTo(5);
              assertThat(one.state()).isEqualTo("Enabled");
              assertThat(one.scalingConfig().maximumConcurrency()).isEqualTo(4);
              assertThat(one.lastModified()).isEqualTo(cloud.clock.instant());
            });

    String uuid = all.get(0).uuid();
    assertThat(cloud.lambda.updateEventSourceMapping(r -> r.uuid(uuid).batchSize(7)).batchSize())
        .isEqualTo(7);
    cloud.lambda.deleteEventSourceMapping(r -> r.uuid(uuid));
    assertThatThrownBy(() -> cloud.lambda.getEventSourceMapping(r -> r.uuid(uuid)))
        .isInstanceOf(ResourceNotFoundException.class)
        .hasMessageContaining("The resource you requested does not exist.");
  }

  @Test
  void mapping_that_cannot_be_isRefused() {
    cloud.createFunction("refusing", "Batches");
    cloud.createQueue("short", Map.of(QueueAttributeName.VISIBILITY_TIMEOUT, "14"));
    cloud.createQueue("fine", Map.of());
    cloud.createQueue("fine.fifo", Map.of(QueueAttributeName.FIFO_QUEUE, "true"));

    refusedMapping("nobody", "fine", 10, 0, "Function does not exist");
    refusedMapping("refusing", "none", 10, 0, "AWS.SimpleQueueService.NonExistentQueue");
    refusedMapping(
        "refusing",
        "short",
        10,
        0,
        "Queue visibility timeout: 14 seconds is less than Function timeout: 15 seconds");
    refusedMapping("refusing", "fine.fifo", 11, 0, "batchSize");
    refusedMapping("refusing", "fine.fifo", 10, 1, "Batching window is not supported");
    refusedMapping("refusing", "fine", 11, 0, "Maximum batch window in seconds must be greater");

    cloud.lambda.createEventSourceMapping(
        r -> r.functionName("refusing").eventSourceArn(EventsCloud.queueArn("fine")));
    assertThatThrownBy(
            () ->
                cloud.lambda.createEventSourceMapping(
                    r -> r.functionName("refusing").eventSourceArn(EventsCloud.queueArn("fine"))))
        .isInstanceOf(ResourceConflictException.class)
        .hasMessageContaining("already exists. Please update or delete the existing mapping");
  }

  private static void refusedMapping(
      String function, String queue, int batchSize, int window, String message) {
    assertThatThrownBy(
            () ->
                cloud.lambda.createEventSourceMapping(
                    r ->
                        r.functionName(function)
                            .eventSourceArn(EventsCloud.queueArn(queue))
                            .batchSize(batchSize)
                            .maximumBatchingWindowInSeconds(window)))
        .isInstanceOfSatisfying(
            LambdaException.class, e -> assertThat(e.statusCode()).isEqualTo(400))
        .hasMessageContaining(message);
  }

  @Test
  void what_was_created_isThere_after_a_restart(@TempDir Path own) throws Exception {
    EventsCloud before = EventsCloud.start(own, true);
    String url = before.createQueue("work", Map.of(QueueAttributeName.VISIBILITY_TIMEOUT, "60"));
    before.createFunction("kept", "Batches");
    before.createFunction("kept2", "Batches");
    before.createFunction("dropped", "Batches");
    before.lambda.deleteFunction(r -> r.functionName("dropped"));
    String uuid =
        before
            .lambda
            .createEventSourceMapping(
                r -> r.functionName("kept").eventSourceArn(EventsCloud.queueArn("work")))
            .uuid();
    before.cloud.settle();

    try (EventsCloud after = before.restarted()) {
      assertThat(after.lambda.getFunction(r -> r.functionName("kept")).configuration().timeout())
          .isEqualTo(15);
      assertThatThrownBy(() -> after.lambda.getFunction(r -> r.functionName("dropped")))
          .isInstanceOf(ResourceNotFoundException.class);
      assertThat(after.lambda.getEventSourceMapping(r -> r.uuid(uuid)).state())
          .isEqualTo("Enabled");
      after.send(url, "hello", "");
      after.cloud.settle();
      assertThat(after.log("kept")).contains("took hello of null with [], 1");
      try (var files = Files.list(own.resolve("data/functions/code"))) {
        assertThat(files).hasSize(1);
      }
    }
  }

  private static String invoke(String function, String event) {
    return cloud
        .lambda
        .invoke(r -> r.functionName(function).payload(SdkBytes.fromUtf8String(event)))
        .payload()
        .asUtf8String();
  }

  @Test
  void mapping_needs_the_rights_of_the_function_to_read_its_source() {
    cloud.lambda.createFunction(
        EventsCloud.function("stranger", "Introspector")
            .role(EventsCloud.ROLE.replace("Reader", "Stranger"))
            .build());
    cloud.createQueue("strange", Map.of());

    assertThatThrownBy(
            () ->
                cloud.lambda.createEventSourceMapping(
                    r ->
                        r.functionName("stranger").eventSourceArn(EventsCloud.queueArn("strange"))))
        .isInstanceOf(InvalidParameterValueException.class)
        .hasMessageContaining(
            "The function execution role does not have permissions to call DeleteMessage on SQS");
    assertThatThrownBy(
            () ->
                cloud.lambda.createEventSourceMapping(
                    r ->
                        r.functionName("stranger")
                            .eventSourceArn(cloud.streamArn())
                            .startingPosition("LATEST")))
        .isInstanceOf(InvalidParameterValueException.class)
        .hasMessageContaining("Cannot access stream " + cloud.streamArn());
  }
}
