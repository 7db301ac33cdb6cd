package dev.tollgate.local.events;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.local.faults.FaultKind;
import dev.tollgate.local.faults.FaultPlan;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.GlobalSecondaryIndex;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ProjectionType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.lambda.model.EventSourceMappingConfiguration;
import software.amazon.awssdk.services.lambda.model.GetFunctionConfigurationResponse;
import software.amazon.awssdk.services.lambda.model.InvokeResponse;
import software.amazon.awssdk.services.lambda.model.LastUpdateStatus;
import software.amazon.awssdk.services.lambda.model.ResourceConflictException;
import software.amazon.awssdk.services.lambda.model.ResourceInUseException;
import software.amazon.awssdk.services.lambda.model.State;

/** Functions, mappings and indexes that change some time after the answer. */
final class SlowChangesTest {
  private static final Duration LONGEST = Duration.ofSeconds(20);

  @TempDir private Path directory;
  private EventsCloud cloud;

  @BeforeEach
  void start() {
    cloud =
        EventsCloud.start(
            directory,
            false,
            new FaultPlan(
                1,
                Map.of(
                    FaultKind.FUNCTION_PENDING, 1.0,
                    FaultKind.MAPPING_PENDING, 1.0,
                    FaultKind.INDEX_STALE, 1.0),
                Map.of(),
                Map.of()));
  }

  @AfterEach
  void stop() {
    cloud.close();
  }

  private GetFunctionConfigurationResponse function() {
    return cloud.lambda.getFunctionConfiguration(r -> r.functionName("slow"));
  }

  private InvokeResponse invoke() {
    return cloud.lambda.invoke(r -> r.functionName("slow").payload(SdkBytes.fromUtf8String("{}")));
  }

  private EventSourceMappingConfiguration mapping() {
    return cloud
        .lambda
        .listEventSourceMappings(r -> r.functionName("slow"))
        .eventSourceMappings()
        .get(0);
  }

  private String map() {
    String url = cloud.createQueue("slow", Map.of());
    cloud.createFunction("slow", "Batches");
    cloud.clock.advance(LONGEST);
    cloud.lambda.createEventSourceMapping(
        r -> r.functionName("slow").eventSourceArn(EventsCloud.queueArn("slow")).batchSize(1));
    return url;
  }

  @Test
  void a_function_that_is_created_is_pending_and_can_do_nothing() {
    cloud.createFunction("slow", "Introspector");

    assertThat(function().state()).isEqualTo(State.PENDING);
    assertThatThrownBy(this::invoke)
        .isInstanceOf(ResourceConflictException.class)
        .hasMessageContaining("state: Pending");
    assertThatThrownBy(() -> cloud.lambda.deleteFunction(r -> r.functionName("slow")))
        .isInstanceOf(ResourceConflictException.class);

    cloud.clock.advance(LONGEST);
    assertThat(function().state()).isEqualTo(State.ACTIVE);
    assertThat(invoke().functionError()).isNull();
  }

  @Test
  void a_function_that_is_changed_is_in_progress_and_can_be_invoked() {
    cloud.createFunction("slow", "Introspector");
    cloud.clock.advance(LONGEST);
    cloud.lambda.updateFunctionConfiguration(r -> r.functionName("slow").timeout(7));

    assertThat(function().state()).isEqualTo(State.ACTIVE);
    assertThat(function().lastUpdateStatus()).isEqualTo(LastUpdateStatus.IN_PROGRESS);
    assertThat(invoke().functionError()).isNull();
    assertThatThrownBy(
            () ->
                cloud.lambda.updateFunctionCode(
                    r -> r.functionName("slow").s3Bucket("assets-000000000000").s3Key("code.jar")))
        .isInstanceOf(ResourceConflictException.class)
        .hasMessageContaining("An update is in progress");

    cloud.clock.advance(LONGEST);
    assertThat(function().lastUpdateStatus()).isEqualTo(LastUpdateStatus.SUCCESSFUL);
  }

  @Test
  void a_mapping_reads_when_it_is_created() throws Exception {
    String url = map();
    cloud.send(url, "early", "");

    assertThat(mapping().state()).isEqualTo("Creating");
    String uuid = mapping().uuid();
    assertThatThrownBy(() -> cloud.lambda.deleteEventSourceMapping(r -> r.uuid(uuid)))
        .isInstanceOf(ResourceInUseException.class);
    cloud.cloud.settle();
    assertThat(cloud.log("slow")).noneMatch(line -> line.startsWith("took early"));

    cloud.clock.advance(LONGEST);
    cloud.cloud.settle();
    assertThat(mapping().state()).isEqualTo("Enabled");
    assertThat(cloud.log("slow")).anyMatch(line -> line.startsWith("took early"));
  }

  @Test
  void a_mapping_that_is_deleted_is_listed_for_a_while_and_reads_nothing() throws Exception {
    String url = map();
    cloud.clock.advance(LONGEST);
    String uuid = mapping().uuid();
    cloud.lambda.deleteEventSourceMapping(r -> r.uuid(uuid));
    cloud.send(url, "late", "");

    cloud.cloud.settle();
    assertThat(mapping().state()).isEqualTo("Deleting");

    cloud.clock.advance(LONGEST);
    cloud.cloud.settle();
    assertThat(
            cloud.lambda.listEventSourceMappings(r -> r.functionName("slow")).eventSourceMappings())
        .isEmpty();
    assertThat(cloud.log("slow")).noneMatch(line -> line.startsWith("took late"));
  }

  @Test
  void a_query_of_an_index_returns_what_it_returned_before() {
    AttributeDefinition id =
        AttributeDefinition.builder()
            .attributeName("id")
            .attributeType(ScalarAttributeType.S)
            .build();
    KeySchemaElement key =
        KeySchemaElement.builder().attributeName("id").keyType(KeyType.HASH).build();
    cloud.dynamoDb.createTable(
        r ->
            r.tableName("Indexed")
                .attributeDefinitions(id)
                .keySchema(key)
                .billingMode(BillingMode.PAY_PER_REQUEST)
                .globalSecondaryIndexes(
                    GlobalSecondaryIndex.builder()
                        .indexName("all")
                        .keySchema(key)
                        .projection(p -> p.projectionType(ProjectionType.ALL))
                        .build()));
    try (DynamoDbClient reader = reader()) {
      assertThat(query(reader)).isZero();
      cloud.dynamoDb.putItem(
          r -> r.tableName("Indexed").item(Map.of("id", AttributeValue.fromS("x"))));

      assertThat(query(reader)).isZero();
      assertThat(query(reader)).isEqualTo(1);
    }
  }

  private static int query(DynamoDbClient reader) {
    return reader
        .query(
            r ->
                r.tableName("Indexed")
                    .indexName("all")
                    .keyConditionExpression("id = :id")
                    .expressionAttributeValues(Map.of(":id", AttributeValue.fromS("x"))))
        .count();
  }

  /** A client with the rights of a function: faults do not happen to administrators. */
  private DynamoDbClient reader() {
    var credentials = cloud.cloud.accessKeyOf("Reader");
    return DynamoDbClient.builder()
        .endpointOverride(cloud.cloud.endpoint())
        .region(Region.US_EAST_1)
        .credentialsProvider(
            StaticCredentialsProvider.create(
                AwsSessionCredentials.create(
                    credentials.accessKeyId(),
                    credentials.secretAccessKey(),
                    credentials.sessionToken())))
        .build();
  }
}
