package dev.tollgate.infra;

import io.github.cdklabs.cdknag.NagPackSuppression;
import io.github.cdklabs.cdknag.NagSuppressions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import software.amazon.awscdk.Annotations;
import software.amazon.awscdk.Duration;
import software.amazon.awscdk.Stack;
import software.amazon.awscdk.aws_apigatewayv2_integrations.HttpLambdaIntegration;
import software.amazon.awscdk.services.apigatewayv2.CfnStage;
import software.amazon.awscdk.services.apigatewayv2.HttpApi;
import software.amazon.awscdk.services.apigatewayv2.HttpNoneAuthorizer;
import software.amazon.awscdk.services.apigatewayv2.HttpRoute;
import software.amazon.awscdk.services.apigatewayv2.HttpRouteKey;
import software.amazon.awscdk.services.apigatewayv2.IHttpRouteAuthorizer;
import software.amazon.awscdk.services.iam.Role;
import software.amazon.awscdk.services.iam.ServicePrincipal;
import software.amazon.awscdk.services.lambda.Alias;
import software.amazon.awscdk.services.lambda.Architecture;
import software.amazon.awscdk.services.lambda.Code;
import software.amazon.awscdk.services.lambda.Function;
import software.amazon.awscdk.services.lambda.Runtime;
import software.amazon.awscdk.services.lambda.SnapStartConf;
import software.amazon.awscdk.services.logs.LogGroup;
import software.constructs.Construct;

/**
 * The API that serves the sample client, the operator page and the control plane's routes. Because
 * they share an origin, the control plane needs no CORS settings.
 */
final class Console extends Construct {
  /** Files per second for all users together. The operator page loads some 30 files. */
  private static final int PAGES_PER_SECOND = 20;

  /** Files at once: enough for ten users who load a page in the same second. */
  private static final int PAGE_BURST = 300;

  private final HttpApi api;
  private final Optional<SignIn> signIn;
  private final Function pages;

  /**
   * Adds the console.
   *
   * @param controlPlane the function behind the control plane's routes
   */
  Console(Construct scope, TollgateProps props, FunctionWithRoles controlPlane) {
    super(scope, "Console");
    api = Routes.api(this, "Console", props, HttpApi.Builder.create(this, "Console"));

    signIn =
        props.consoleSignIn()
            ? Optional.of(new SignIn(this, props, operatorPageUrl()))
            : Optional.empty();
    IHttpRouteAuthorizer operators =
        signIn.map(SignIn::authorizer).orElseGet(HttpNoneAuthorizer::new);
    new Routes(api, Routes.integration(controlPlane.live()), operators)
        .unauthorized(
            "The deployer disabled the console's sign-in because the network restricts access.")
        .controlPlane();

    pages = pagesFunction(props);
    Alias live =
        Alias.Builder.create(this, "Alias")
            .aliasName("live")
            .version(pages.getCurrentVersion())
            .build();
    // The default route takes all other requests. The function answers unknown paths with 404.
    HttpRoute rest =
        HttpRoute.Builder.create(this, "Pages")
            .httpApi(api)
            .routeKey(HttpRouteKey.DEFAULT)
            // The permission must name this route. A permission for */*/* covers only routes with a
            // method and a path, which the default route does not have.
            .integration(new HttpLambdaIntegration("Pages", live))
            .build();
    CfnStage stage = (CfnStage) api.getNode().findChild("Stage").getNode().findChild("Resource");
    // The pages are public but have few legitimate users, so a low rate is enough.
    stage.setRouteSettings(
        Map.of(
            HttpRouteKey.DEFAULT.getKey(),
            Policies.inOrder(
                Map.of(
                    "ThrottlingRateLimit",
                    Math.min(PAGES_PER_SECOND, props.requestsPerSecond()),
                    "ThrottlingBurstLimit",
                    Math.min(PAGE_BURST, props.requestBurst())))));
    // API Gateway accepts settings only for a route that exists.
    stage.getNode().addDependency(rest);
    NagSuppressions.addResourceSuppressions(
        rest,
        List.of(
            NagPackSuppression.builder()
                .id("AwsSolutions-APIG4")
                .reason(
                    "Pages and scripts are the same for all users and contain no tenant data. "
                        + "Users need them before they can sign in.")
                .build()));
  }

  /** Passes the URLs of the deployment to the pages. */
  void configure(HttpApis http, WebSocket webSocket, TollgateProps props) {
    pages.addEnvironment("SESSION_URL", http.sessionUrl() + "/session");
    if (props.listTenants()) {
      pages.addEnvironment("TENANT_URL", http.sessionUrl() + "/tenant");
    }
    pages.addEnvironment("WEBSOCKET_URL", webSocket.url());
    pages.addEnvironment("DEPLOYMENT", Stack.of(this).getStackName());
    pages.addEnvironment("SESSION_ACCESS", access(props.sessionAccess()));
    if (props.lab()) {
      pages.addEnvironment("LAB", "true");
    }
    signIn.ifPresent(
        signInPages -> {
          pages.addEnvironment("SIGN_IN_DOMAIN", signInPages.domainUrl());
          pages.addEnvironment("SIGN_IN_CLIENT_ID", signInPages.clientId());
        });
  }

  private static String access(SessionAccess access) {
    if (access instanceof SessionAccess.Jwt) {
      return "jwt";
    }
    return access instanceof SessionAccess.Open ? "open" : "signed";
  }

  /** The function that serves the pages. It may only write its log. */
  private Function pagesFunction(TollgateProps props) {
    LogGroup log =
        LogGroup.Builder.create(this, "Log")
            .retention(props.logRetention())
            .removalPolicy(props.removalPolicy())
            .build();
    Role role =
        Role.Builder.create(this, "Role")
            .assumedBy(new ServicePrincipal("lambda.amazonaws.com"))
            .description("The role of the console's pages: may write their log.")
            .build();
    log.grantWrite(role);
    Function function =
        Function.Builder.create(this, "Function")
            .description("Serves the sample client and the operator page.")
            .code(Code.fromAsset(props.jars().console().toString()))
            .handler("dev.tollgate.console.Pages")
            .runtime(Runtime.JAVA_25)
            .architecture(Architecture.ARM_64)
            .snapStart(SnapStartConf.ON_PUBLISHED_VERSIONS)
            .memorySize(512)
            .timeout(Duration.seconds(10))
            .role(role)
            .logGroup(log)
            .build();
    Annotations.of(function)
        .acknowledgeWarning(
            "@aws-cdk/aws-lambda:snapStartRequirePublish",
            "The alias refers to a published version.");
    return function;
  }

  /** The name of the log group of the function that serves the pages. */
  String logGroup() {
    return pages.getLogGroup().getLogGroupName();
  }

  /** The id of the operators' user pool, if they must sign in. */
  Optional<String> operatorPool() {
    return signIn.map(SignIn::poolId);
  }

  /** The URL of the operator page: {@code https://…/operator}. */
  String operatorPageUrl() {
    return url() + "/operator";
  }

  /** The URL of the pages, without a trailing slash. */
  String url() {
    return api.getApiEndpoint();
  }
}
