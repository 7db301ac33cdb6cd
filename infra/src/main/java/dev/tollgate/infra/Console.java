package dev.tollgate.infra;

import io.github.cdklabs.cdknag.NagPackSuppression;
import io.github.cdklabs.cdknag.NagSuppressions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import software.amazon.awscdk.Annotations;
import software.amazon.awscdk.Duration;
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
 * The sample client and the operator's page, and beside them the control plane's routes: so the
 * operator's page calls where it came from, and no other origin is let in.
 */
final class Console extends Construct {
  /** Files of the pages in a second, for everybody together: a page loads about a dozen. */
  private static final int PAGES_PER_SECOND = 20;

  /** Files at once: for a few who load a page in the same second. */
  private static final int PAGE_BURST = 100;

  private final HttpApi api;
  private final Optional<SignIn> signIn;
  private final Function pages;

  /**
   * Adds the console.
   *
   * @param controlPlane answers its calls
   */
  Console(Construct scope, TollgateProps props, TenantFunction controlPlane) {
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
            "The deployer left the console's sign-in out: the network is closed otherwise.")
        .controlPlane();

    pages = pagesFunction(props);
    Alias live =
        Alias.Builder.create(this, "Alias")
            .aliasName("live")
            .version(pages.getCurrentVersion())
            .build();
    // All that no other route takes; what there is, the function knows.
    HttpRoute rest =
        HttpRoute.Builder.create(this, "Pages")
            .httpApi(api)
            .routeKey(HttpRouteKey.DEFAULT)
            // Its permission is for this route: one for the whole API, */*/*, is for those that
            // have
            // a method and a path, and this one has neither.
            .integration(new HttpLambdaIntegration("Pages", live))
            .build();
    CfnStage stage = (CfnStage) api.getNode().findChild("Stage").getNode().findChild("Resource");
    // Pages are open to everybody, and nobody but operators and those who try the sample needs
    // them.
    stage.setRouteSettings(
        Map.of(
            HttpRouteKey.DEFAULT.getKey(),
            Map.of(
                "ThrottlingRateLimit",
                Math.min(PAGES_PER_SECOND, props.requestsPerSecond()),
                "ThrottlingBurstLimit",
                Math.min(PAGE_BURST, props.requestBurst()))));
    // API Gateway takes settings of a route that is there.
    stage.getNode().addDependency(rest);
    NagSuppressions.addResourceSuppressions(
        rest,
        List.of(
            NagPackSuppression.builder()
                .id("AwsSolutions-APIG4")
                .reason(
                    "Pages and scripts are the same for everybody and hold nothing of a tenant. "
                        + "Whoever is to sign in needs them first.")
                .build()));
  }

  /** Tells the pages where everything is. */
  void tell(HttpApis http, WebSocket webSocket, TollgateProps props) {
    pages.addEnvironment("SESSION_URL", http.sessionUrl() + "/session");
    if (props.listTenants()) {
      pages.addEnvironment("TENANT_URL", http.sessionUrl() + "/tenant");
    }
    pages.addEnvironment("WEBSOCKET_URL", webSocket.url());
    pages.addEnvironment("SESSION_ACCESS", access(props.sessionAccess()));
    signIn.ifPresent(
        where -> {
          pages.addEnvironment("SIGN_IN_DOMAIN", where.domainUrl());
          pages.addEnvironment("SIGN_IN_CLIENT_ID", where.clientId());
        });
  }

  private static String access(SessionAccess access) {
    if (access instanceof SessionAccess.Jwt) {
      return "jwt";
    }
    return access instanceof SessionAccess.Open ? "open" : "signed";
  }

  /** The pages' own function, which may write its log and nothing else. */
  private Function pagesFunction(TollgateProps props) {
    LogGroup log =
        LogGroup.Builder.create(this, "Log")
            .retention(props.logRetention())
            .removalPolicy(props.removalPolicy())
            .build();
    Role role =
        Role.Builder.create(this, "Role")
            .assumedBy(new ServicePrincipal("lambda.amazonaws.com"))
            .description("What the console's pages may do: write their log.")
            .build();
    log.grantWrite(role);
    Function function =
        Function.Builder.create(this, "Function")
            .description("Serves the sample client and the operator's page.")
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
            "@aws-cdk/aws-lambda:snapStartRequirePublish", "The alias is of a published version.");
    return function;
  }

  /** The pool of the operators, if they are to sign in. */
  Optional<String> operatorPool() {
    return signIn.map(SignIn::poolId);
  }

  /** The operator's page: {@code https://…/operator}. */
  String operatorPageUrl() {
    return url() + "/operator";
  }

  /** Where the pages are, without a slash at the end. */
  String url() {
    return api.getApiEndpoint();
  }
}
