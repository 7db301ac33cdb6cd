package dev.tollgate.infra;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Sign-in of operators at the operator's page. */
class SignInTest {
  private static final Synthesis STACK = Synthesis.of(Map.of());
  private static final Synthesis WITHOUT = Synthesis.of(Map.of("consoleSignIn", "false"));
  private static final String CONSOLE = "TollgateConsole";

  private static JsonNode only(Synthesis stack, String type) {
    Map<String, JsonNode> found = stack.resources(type);
    assertThat(found).hasSize(1);
    return found.values().iterator().next().path("Properties");
  }

  private static String id(Synthesis stack, String type) {
    return stack.resources(type).keySet().iterator().next();
  }

  private static List<String> texts(JsonNode array) {
    List<String> texts = new ArrayList<>();
    array.forEach(text -> texts.add(text.asText()));
    return texts;
  }

  private static List<JsonNode> consoleRoutes(Synthesis stack) {
    return stack.resources("AWS::ApiGatewayV2::Route").values().stream()
        .map(route -> route.path("Properties"))
        .filter(route -> route.at("/ApiId/Ref").asText().startsWith(CONSOLE))
        .toList();
  }

  @Test
  void each_control_plane_route_of_the_console_requires_a_token_of_its_pool() {
    String pool = id(STACK, "AWS::Cognito::UserPool");
    String client = id(STACK, "AWS::Cognito::UserPoolClient");
    JsonNode authorizer =
        STACK.resources("AWS::ApiGatewayV2::Authorizer").values().stream()
            .map(found -> found.path("Properties"))
            .filter(found -> found.path("AuthorizerType").asText().equals("JWT"))
            .findFirst()
            .orElseThrow();
    assertThat(authorizer.at("/ApiId/Ref").asText()).startsWith(CONSOLE);
    assertThat(texts(authorizer.path("IdentitySource")))
        .containsExactly("$request.header.Authorization");
    assertThat(authorizer.at("/JwtConfiguration/Audience/0/Ref").asText()).isEqualTo(client);
    assertThat(authorizer.at("/JwtConfiguration/Audience")).hasSize(1);
    assertThat(authorizer.at("/JwtConfiguration/Issuer").toString())
        .contains("https://cognito-idp.", "{\"Ref\":\"" + pool + "\"}");

    assertThat(consoleRoutes(STACK))
        .filteredOn(route -> !route.path("RouteKey").asText().equals("$default"))
        .hasSizeGreaterThan(10)
        .allSatisfy(
            route -> {
              assertThat(route.path("AuthorizationType").asText()).isEqualTo("JWT");
              String id = route.at("/AuthorizerId/Ref").asText();
              JsonNode resource = STACK.template().at("/Resources/" + id + "/Properties");
              assertThat(resource.equals(authorizer)).as(id).isTrue();
            });
  }

  @Test
  void the_pool_has_no_sign_up_and_requires_long_passwords() {
    JsonNode pool = only(STACK, "AWS::Cognito::UserPool");
    assertThat(pool.at("/AdminCreateUserConfig/AllowAdminCreateUserOnly").asBoolean()).isTrue();
    JsonNode password = pool.at("/Policies/PasswordPolicy");
    assertThat(password.path("MinimumLength").asInt()).isEqualTo(12);
    for (String kind : List.of("Lowercase", "Uppercase", "Numbers", "Symbols")) {
      assertThat(password.path("Require" + kind).asBoolean()).as(kind).isTrue();
    }
    assertThat(pool.path("MfaConfiguration").asText()).isEqualTo("ON");
    assertThat(texts(pool.path("EnabledMfas"))).containsExactly("SOFTWARE_TOKEN_MFA");
  }

  @Test
  void the_page_is_a_public_client_with_the_code_flow_and_its_own_callback() {
    JsonNode client = only(STACK, "AWS::Cognito::UserPoolClient");
    assertThat(client.path("GenerateSecret").asBoolean(true)).isFalse();
    assertThat(texts(client.path("AllowedOAuthFlows"))).containsExactly("code");
    assertThat(texts(client.path("AllowedOAuthScopes"))).containsExactly("openid");
    JsonNode page = STACK.template().at("/Outputs/OperatorPage/Value");
    assertThat(page.toString()).contains("/operator");
    assertThat(client.at("/CallbackURLs")).hasSize(1);
    assertThat(client.at("/CallbackURLs/0")).isEqualTo(page);
    assertThat(client.at("/LogoutURLs")).hasSize(1);
    assertThat(client.at("/LogoutURLs/0")).isEqualTo(page);
    assertThat(client.path("PreventUserExistenceErrors").asText()).isEqualTo("ENABLED");
  }

  @Test
  void the_domain_name_is_unique_per_stack() {
    assertThat(only(STACK, "AWS::Cognito::UserPoolDomain").path("Domain").toString())
        .isEqualTo(
            "{\"Fn::Join\":[\"-\",[\"tollgate\",{\"Fn::Select\":[2,{\"Fn::Split\":[\"/\",{\"Ref\":\"AWS::StackId\"}]}]}]]}");
  }

  @Test
  void a_pool_of_a_prefixed_deployment_has_the_prefix_in_its_name() {
    assertThat(
            only(Synthesis.of(Map.of("prefix", "a_")), "AWS::Cognito::UserPool")
                .path("UserPoolName")
                .asText())
        .isEqualTo("a_operators");
  }

  @Test
  void a_stack_without_sign_in_has_no_pool_and_open_routes() {
    assertThat(WITHOUT.template().toString()).doesNotContain("Cognito", "cognito", "SIGN_IN");
    assertThat(WITHOUT.template().path("Outputs").has("OperatorPool")).isFalse();
    assertThat(consoleRoutes(WITHOUT))
        .hasSameSizeAs(consoleRoutes(STACK))
        .allMatch(route -> route.path("AuthorizationType").asText("NONE").equals("NONE"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"true", "false"})
  void a_stack_with_or_without_sign_in_has_no_cdk_nag_findings(String consoleSignIn) {
    assertThat(Synthesis.of(Map.of("consoleSignIn", consoleSignIn)).findings()).isEmpty();
  }

  @Test
  void the_control_plane_api_requires_signed_requests_with_and_without_sign_in() {
    for (Synthesis stack : List.of(STACK, WITHOUT)) {
      assertThat(stack.resources("AWS::ApiGatewayV2::Route").values())
          .map(route -> route.path("Properties"))
          .filteredOn(route -> route.at("/ApiId/Ref").asText().startsWith("TollgateHttpControl"))
          .isNotEmpty()
          .allMatch(route -> route.path("AuthorizationType").asText().equals("AWS_IAM"));
    }
  }
}
