package dev.tollgate.infra;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awscdk.Annotations;
import software.amazon.awscdk.App;
import software.amazon.awscdk.Stack;
import software.amazon.awscdk.services.logs.LogGroup;
import software.amazon.awscdk.services.sqs.Queue;

class TollgateAppTest {

  @Test
  void a_queue_that_accepts_unencrypted_requests_is_a_finding() {
    App app = TollgateApp.app(Map.of());
    new Queue(new Stack(app, "Example"), "Planted");
    assertThatThrownBy(app::synth).hasMessageContaining("ValidationFailed");
    assertThat(TollgateApp.findings(app))
        .anySatisfy(finding -> assertThat(finding).contains("Planted", "AwsSolutions-SQS4"))
        .allSatisfy(finding -> assertThat(finding).contains("Planted"));
  }

  @Test
  void an_omitted_context_value_has_its_documented_default_and_a_warning_is_a_finding() {
    Synthesis stack =
        Synthesis.of(
            Map.of(),
            planted -> Annotations.of(planted).addWarningV2("planted", "A planted warning."));
    assertThat(stack.template()).isEqualTo(Synthesis.of(Map.of()).template());
    assertThat(stack.findings()).containsExactly("Tollgate: A planted warning. [ack: planted]");
  }

  @Test
  void jars_of_a_release_have_the_names_of_those_of_a_checkout() {
    FunctionJars release = FunctionJars.in(Path.of("lib"));
    FunctionJars checkout = FunctionJars.under(Path.of(""));
    assertThat(release)
        .isEqualTo(
            new FunctionJars(
                inLib(checkout.handlers()),
                inLib(checkout.tokenProducer()),
                inLib(checkout.controlPlane()),
                inLib(checkout.processor()),
                inLib(checkout.console())));
  }

  private static Path inLib(Path jar) {
    return Path.of("lib").resolve(jar.getFileName());
  }

  @ParameterizedTest
  @CsvSource({"'', Tollgate", "test_, Tollgate-test"})
  void a_prefix_is_part_of_the_stack_name(String prefix, String name) {
    assertThat(TollgateApp.stackName(prefix)).isEqualTo(name);
  }

  @ParameterizedTest
  @CsvSource({
    "removal, delete, 'removal: \"delete\" (expected: retain or destroy)'",
    "messageHandler, a b, 'messageHandler: \"a b\" (expected: a fully qualified class name)'",
    "prefix, silo_, 'prefix: \"silo_\" (expected: another prefix; queues of silo tenants"
        + " without a prefix begin with silo_)'",
    "alarmTopic, pager, 'alarmTopic: \"pager\" (expected: the ARN of an SNS topic;"
        + " arn:aws:sns:REGION:ACCOUNT:NAME)'",
    "demo, yes, 'demo: \"yes\" (expected: true or false)'",
    "lab, yes, 'lab: \"yes\" (expected: false or true)'",
    "shareCredentials, yes, 'shareCredentials: \"yes\" (expected: false or true)'",
    "tracing, yes, 'tracing: \"yes\" (expected: false or true)'",
    "claims, yes, 'claims: \"yes\" (expected: true or false)'",
    "authorizerConcurrency, 0, 'authorizerConcurrency: \"0\" (expected: a whole number, 1 to"
        + " 999999; new accounts may reserve none, see docs/reference/quotas.md)'",
    "connectConcurrency, many, 'connectConcurrency: \"many\" (expected: a whole number, 1 to"
        + " 999999; new accounts may reserve none, see docs/reference/quotas.md)'",
    "connectionQuota, many, 'connectionQuota: \"many\" (expected: a whole number, 1 to 999999)'",
    "accountLogRole, true, 'accountLogRole: \"true\" (expected: keep or set)'",
    "consoleSignIn, no, 'consoleSignIn: \"no\" (expected: true or false)'",
    "prefix, Test_, 'prefix: \"Test_\" (expected: [a-z][a-z0-9]{0,5}_ or empty; names of schedules"
        + " begin with it and have at most 64 characters)'"
  })
  void an_invalid_context_value_is_refused(String name, String value, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Synthesis.of(Map.of(name, value)))
        .withMessage(message);
  }

  @ParameterizedTest
  @CsvSource({
    "http://login.example.com, a, t, 'jwtIssuer: \"http://login.example.com\" (expected: an https"
        + " URL without query and fragment, as in the tokens'' claim iss, that AWS can reach during"
        + " the deployment)'",
    "https://, a, t, 'jwtIssuer: \"https://\" (expected: an https URL'",
    "login.example.com, a, t, 'jwtIssuer: \"login.example.com\"'",
    "https://login.example.com?a=b, a, t, 'jwtIssuer: \"https://login.example.com?a=b\"'",
    "https://me@login.example.com, a, t, 'jwtIssuer: \"https://me@login.example.com\"'",
    "https://login.example.com, '', t, 'jwtAudience: [] (expected: 1 to 50 audiences)'",
    "https://login.example.com, 'a,,b', t, 'jwtAudience: \"\" (expected: a string without blanks)'",
    "https://login.example.com, 'a, b', t, 'jwtAudience: \" b\" (expected: a string without blanks)'",
    "https://login.example.com, a, tenant id, 'jwtTenantClaim: \"tenant id\" (expected: the name of"
        + " a claim, such as tenantId or custom:tenantId)'",
    "'', a, t, 'jwtIssuer: \"\" (expected: the issuer of the tokens, because jwtAudience or"
        + " jwtTenantClaim is set)'",
  })
  void an_invalid_token_setting_is_refused(
      String issuer, String audience, String claim, String message) {
    Map<String, String> context =
        Map.of("jwtIssuer", issuer, "jwtAudience", audience, "jwtTenantClaim", claim);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Synthesis.of(context))
        .withMessageStartingWith(message);
  }

  @Test
  void a_listing_of_tenants_is_refused_with_tokens() {
    SessionAccess tokens =
        new SessionAccess.Jwt("https://login.example.com", List.of("tollgate"), "tenantId");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TollgateProps.builder().sessionAccess(tokens).listTenants(true).build())
        .withMessageStartingWith("listTenants: true (expected: false");
  }

  @Test
  void the_context_of_cdk_json_is_read_if_the_cdk_passes_none(@TempDir Path directory)
      throws IOException {
    Path file = directory.resolve("cdk.json");
    assertThat(TollgateApp.context(Map.of(), file)).isEmpty();
    Files.writeString(file, "{\"app\":\"java\",\"context\":{\"prefix\":\"a_\",\"demo\":false}}");
    assertThat(TollgateApp.context(Map.of(), file))
        .isEqualTo(Map.of("prefix", "a_", "demo", false));
    assertThat(TollgateApp.context(Map.of("CDK_CONTEXT_JSON", "{}"), file)).isEmpty();
    Files.writeString(file, "{}");
    assertThat(TollgateApp.context(Map.of(), file)).isEmpty();
  }

  @Test
  void every_feature_flag_of_the_cdk_has_its_recommended_value() throws IOException {
    App app = TollgateApp.app(Map.of());
    new LogGroup(new Stack(app, "Example"), "Log");
    Path manifest = Path.of(app.synth().getDirectory(), "manifest.json");
    JsonNode flags =
        new ObjectMapper()
            .readTree(manifest.toFile())
            .at("/artifacts/aws-cdk-lib~1feature-flag-report/properties/flags");
    assertThat(flags.properties())
        .hasSizeGreaterThan(80)
        .extracting(Map.Entry::getValue)
        .filteredOn(flag -> !flag.path("userValue").equals(flag.path("recommendedValue")))
        // The remaining flags are unset, and on by default.
        .noneMatch(flag -> flag.has("userValue"))
        .allMatch(
            flag -> flag.at("/unconfiguredBehavesLike/v2").equals(flag.path("recommendedValue")));
  }

  @Test
  void a_context_value_overrides_a_feature_flag() {
    String flag = "@aws-cdk/aws-iam:minimizePolicies";
    assertThat(TollgateApp.app(Map.of()).getNode().tryGetContext(flag)).isEqualTo(true);
    assertThat(TollgateApp.app(Map.of(flag, false)).getNode().tryGetContext(flag)).isEqualTo(false);
  }

  @Test
  void the_handlers_jar_is_deployed_to_message_processors_only(@TempDir Path directory)
      throws IOException {
    Path jar = Files.writeString(directory.resolve("mine.jar"), "mine");
    Synthesis stack = Synthesis.of(Map.of("messageHandlerJar", jar.toString()));
    String key = code(stack, "PoolProcessor");
    assertThat(key).isNotEqualTo(code(stack, "SessionApi"));
    assertThat(
            stack
                .properties("AWS::Lambda::Function", "TollgateSweepFunction")
                .at("/Environment/Variables/PROCESSOR_CODE_KEY")
                .asText())
        .isEqualTo(key);
  }

  @Test
  void a_message_handler_that_its_jar_does_not_contain_is_refused() {
    FunctionJars jars = Synthesis.jarsWithoutCode();
    App app = TollgateApp.app(Map.of("messageHandler", Synthesis.HANDLER));
    TollgateApp.stack(app, jars);

    App misspelt = TollgateApp.app(Map.of("messageHandler", "com.example.Chart"));
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TollgateApp.stack(misspelt, jars))
        .withMessage(
            "messageHandler: no class `com.example.Chart` in %s (expected: a class of"
                + " messageHandlerJar)",
            jars.processor());
  }

  private static String code(Synthesis stack, String id) {
    return stack
        .properties("AWS::Lambda::Function", "Tollgate" + id + "Function")
        .at("/Code/S3Key")
        .asText();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "a_", "abcdef_", "a1_"})
  void a_prefix_of_up_to_seven_characters_is_accepted(String prefix) {
    assertThat(TollgateProps.builder().prefix(prefix).build().prefix()).isEqualTo(prefix);
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "_", "1a_", "abcdefg_", "a_b_", "a-_", "A_"})
  void a_malformed_prefix_is_refused(String prefix) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TollgateProps.builder().prefix(prefix).build())
        .withMessageStartingWith("prefix: \"" + prefix + "\"");
  }

  @Test
  void a_throttle_of_zero_is_refused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> TollgateProps.builder().throttle(0, 1).build())
        .withMessage("requestsPerSecond: 0 (expected: > 0)");
  }
}
