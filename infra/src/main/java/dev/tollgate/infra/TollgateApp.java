package dev.tollgate.infra;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.cdklabs.cdknag.AwsSolutionsChecks;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;
import software.amazon.awscdk.App;
import software.amazon.awscdk.AppProps;
import software.amazon.awscdk.Aspects;
import software.amazon.awscdk.CfnOutput;
import software.amazon.awscdk.DefaultStackSynthesizer;
import software.amazon.awscdk.RemovalPolicy;
import software.amazon.awscdk.Stack;
import software.amazon.awscdk.StackProps;
import software.amazon.awscdk.services.iam.AccountRootPrincipal;
import software.amazon.awscdk.services.iam.Role;

/**
 * The CDK app with one stack, {@code Tollgate}. It reads these context values ({@code -c
 * name=value}):
 *
 * <ul>
 *   <li>{@code prefix}: see {@link TollgateProps#prefix()}. With {@code test_} the stack's name is
 *       {@code Tollgate-test}.
 *   <li>{@code removal}: {@code retain} (default) keeps tables and logs when the stack is deleted,
 *       {@code destroy} deletes them.
 *   <li>{@code demo}: {@code true} (default) allows everyone to create sessions and list tenants,
 *       {@code false} only principals of the account to create sessions.
 *   <li>{@code jwtIssuer}, {@code jwtAudience}, {@code jwtTenantClaim}: see {@link
 *       SessionAccess.Jwt}. With an issuer, sessions require a token and tenants are not listed;
 *       {@code demo} is ignored. Separate several audiences with commas. The default claim is
 *       {@code tenantId}.
 *   <li>{@code consoleSignIn}: {@code true} (default) requires a sign-in on the operator page,
 *       {@code false} leaves it open to everyone who can reach it.
 *   <li>{@code accountLogRole}: {@code keep} (default) uses the role with which API Gateway writes
 *       logs in this account and Region, {@code set} creates one and replaces that setting. See
 *       {@link TollgateProps#setsAccountLogRole()}.
 *   <li>{@code authorizerConcurrency}, {@code connectConcurrency}, {@code producerConcurrency}: see
 *       {@link TollgateProps#authorizerConcurrency()} and {@link
 *       TollgateProps#producerConcurrency()}. By default, none is reserved.
 *   <li>{@code socketChecksPerMinute}: see {@link TollgateProps#socketChecksPerMinute()}. Default:
 *       30,000.
 *   <li>{@code connectionQuota}: see {@link TollgateProps#connectionQuota()}. Default: 500.
 *   <li>{@code claims}: {@code true} (default) adds the role {@code Application}, which programs of
 *       the account may assume to claim tokens; {@code false} omits it. Its ARN is the output
 *       {@code ApplicationRole}; the environment variables of the programs are the output {@code
 *       ApplicationVariables}.
 *   <li>{@code alarmTopic}: see {@link TollgateProps#alarmTopic()}. The names of the alarms begin
 *       with the output {@code AlarmPrefix}, by which {@code tollgate alarms} finds them.
 *   <li>{@code eventSchemas}: see {@link TollgateProps#eventSchemas()}. Default: {@code false}.
 *   <li>{@code lab}: see {@link TollgateProps#lab()}. Default: {@code false}.
 *   <li>{@code tracing}: see {@link TollgateProps#tracing()}. Default: {@code false}. With it, the
 *       stack has the output {@code Tracing}.
 *   <li>{@code shareCredentials}: see {@link TollgateProps#shareCredentials()}. Default: {@code
 *       false}.
 *   <li>{@code probe}: {@code true} synthesizes the stack of {@link ProbeStack} instead, whose name
 *       ends with {@code -probe}; default: {@code false}. It reads {@code prefix}, {@code deleteAt}
 *       and, optionally, {@code budgetEmail} alone.
 *   <li>{@code messageHandler}: see {@link TollgateProps#messageHandler()}.
 *   <li>{@code messageHandlerJar}: the jar that contains the handler, see {@link
 *       FunctionJars#processor()}.
 * </ul>
 */
public final class TollgateApp {
  private static final Set<String> FINDING_TYPES = Set.of("aws:cdk:error", "aws:cdk:warning");

  private TollgateApp() {}

  /**
   * Synthesizes the stack with the functions' jars of a checkout in the working directory, or with
   * those in the directory that the system property {@code tollgate.functions} names. The system
   * properties {@code tollgate.alarmTopic} and {@code tollgate.lab} are defaults of {@code
   * alarmTopic} and {@code lab}: the build sets them for the stack of {@code ./tollgate up}, which
   * evaluates the alarms and has no topic, and has no customers. Fails if cdk-nag has findings: the
   * CDK itself refuses errors and reports them.
   */
  public static void main(String[] args) {
    Map<String, Object> context = new HashMap<>(context(System.getenv(), Path.of("cdk.json")));
    for (String option : List.of("alarmTopic", "lab")) {
      Optional.ofNullable(System.getProperty("tollgate." + option))
          .ifPresent(value -> context.putIfAbsent(option, value));
    }
    App app = app(context);
    String functions = System.getProperty("tollgate.functions");
    try {
      if (choice(app, "probe", "false", "true").equals("true")) {
        probe(app, probeJar(functions == null ? Path.of("probe", "target") : Path.of(functions)));
      } else {
        stack(
            app,
            functions == null
                ? FunctionJars.under(Path.of(""))
                : FunctionJars.in(Path.of(functions)));
      }
    } catch (IllegalArgumentException invalid) {
      // The launcher shows the lines of a failed build that begin so.
      System.err.println("[ERROR] " + invalid.getMessage());
      System.exit(1);
    }
    app.synth();
    List<String> findings = findings(app);
    if (!findings.isEmpty()) {
      findings.forEach(System.err::println);
      System.exit(1);
    }
  }

  /**
   * The context values of {@code cdk.json}; empty if the CDK's command line runs the app, because
   * it passes them in the variable {@code CDK_CONTEXT_JSON}.
   */
  static Map<String, Object> context(Map<String, String> environment, Path cdkJson) {
    if (environment.containsKey("CDK_CONTEXT_JSON") || !Files.exists(cdkJson)) {
      return Map.of();
    }
    ObjectMapper json = new ObjectMapper();
    try {
      return json.convertValue(
          json.readTree(cdkJson.toFile()).withObject("/context"), new TypeReference<>() {});
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * An app whose template does not depend on where and how it is synthesized. It sets the feature
   * flags that the CDK recommends for new apps; a context value of the same name overrides a flag.
   */
  static App app(Map<String, ?> context) {
    Map<String, Object> all = new HashMap<>(featureFlags());
    all.putAll(context);
    App app =
        new App(
            AppProps.builder().analyticsReporting(false).treeMetadata(false).context(all).build());
    Aspects.of(app).add(AwsSolutionsChecks.Builder.create().reports(false).verbose(true).build());
    return app;
  }

  /**
   * The feature flags that the CDK recommends, as in its file {@code
   * recommended-feature-flags.json}, and two that the file omits and that are recommended to be
   * off.
   */
  private static Map<String, Object> featureFlags() {
    try {
      return new ObjectMapper()
          .readValue(ClasspathFile.read("feature-flags.json"), new TypeReference<>() {});
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Adds the stack that the context values describe.
   *
   * @throws IllegalArgumentException if a context value is invalid
   */
  static Stack stack(App app, FunctionJars jars) {
    String prefix = context(app, "prefix", "");
    String handlerJar = context(app, "messageHandlerJar", "");
    boolean demo = choice(app, "demo", "true", "false").equals("true");
    SessionAccess access =
        jwt(app).orElse(demo ? new SessionAccess.Open() : new SessionAccess.Signed());
    TollgateProps.Builder settings =
        TollgateProps.builder()
            .prefix(prefix)
            .jars(handlerJar.isEmpty() ? jars : jars.withProcessor(Path.of(handlerJar)))
            .removalPolicy(
                choice(app, "removal", "retain", "destroy").equals("retain")
                    ? RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
                    : RemovalPolicy.DESTROY)
            .sessionAccess(access)
            .listTenants(access instanceof SessionAccess.Open)
            .consoleSignIn(choice(app, "consoleSignIn", "true", "false").equals("true"))
            .setsAccountLogRole(choice(app, "accountLogRole", "keep", "set").equals("set"))
            .eventSchemas(choice(app, "eventSchemas", "false", "true").equals("true"))
            .lab(choice(app, "lab", "false", "true").equals("true"))
            .tracing(choice(app, "tracing", "false", "true").equals("true"))
            .shareCredentials(choice(app, "shareCredentials", "false", "true").equals("true"));
    String small = "; new accounts may reserve none, see docs/reference/quotas.md";
    number(app, "authorizerConcurrency", small).ifPresent(settings::authorizerConcurrency);
    number(app, "connectConcurrency", small).ifPresent(settings::connectConcurrency);
    number(app, "producerConcurrency", small).ifPresent(settings::producerConcurrency);
    number(app, "socketChecksPerMinute", "").ifPresent(settings::socketChecksPerMinute);
    number(app, "connectionQuota", "").ifPresent(settings::connectionQuota);
    String topic = context(app, "alarmTopic", "");
    if (!topic.isEmpty()) {
      settings.alarmTopic(topic);
    }
    String handler = context(app, "messageHandler", "");
    TollgateProps props = (handler.isEmpty() ? settings : settings.messageHandler(handler)).build();
    if (!handler.isEmpty()) {
      props.jars().requireInProcessor(handler);
    }
    Stack stack =
        newStack(
            app,
            "Tollgate",
            stackName(prefix),
            "Tollgate: per-tenant admission control for WebSocket applications");
    Tollgate tollgate = new Tollgate(stack, "Tollgate", props);
    output(stack, "SessionURL", tollgate.sessionUrl());
    tollgate.tenantUrl().ifPresent(url -> output(stack, "TenantURL", url));
    output(stack, "WebSocketURL", tollgate.webSocketUrl());
    output(stack, "ControlPlaneURL", tollgate.controlPlaneUrl());
    output(stack, "SampleClient", tollgate.sampleClientUrl());
    output(stack, "OperatorPage", tollgate.operatorPageUrl());
    tollgate.operatorPoolId().ifPresent(id -> output(stack, "OperatorPool", id));
    output(stack, "AlarmPrefix", Monitoring.alarmPrefix(prefix));
    output(stack, "LogGroups", lines(tollgate.logGroups()));
    if (props.tracing()) {
      // By which the command line knows that there are traces.
      output(stack, "Tracing", "X-Ray");
    }
    if (choice(app, "claims", "true", "false").equals("true")) {
      addApplicationRole(stack, tollgate);
    }
    return stack;
  }

  private static Path probeJar(Path directory) {
    return directory.resolve("tollgate-probe.jar");
  }

  /**
   * Adds the probe stack that the context values describe.
   *
   * @throws IllegalArgumentException if a context value is invalid
   */
  static Stack probe(App app, Path jar) {
    String prefix = TollgateProps.builder().prefix(context(app, "prefix", "")).build().prefix();
    Stack stack =
        newStack(
            app,
            "Probe",
            stackName(prefix) + "-probe",
            "Tollgate: asks AWS what its documentation leaves open; deletes itself");
    ProbeStack.add(
        stack,
        prefix,
        jar,
        context(app, "deleteAt", ""),
        Optional.of(context(app, "budgetEmail", "")).filter(email -> !email.isEmpty()));
    return stack;
  }

  private static Stack newStack(App app, String id, String name, String description) {
    Stack stack =
        new Stack(
            app,
            id,
            StackProps.builder()
                .stackName(name)
                .description(description)
                // The CDK's command line checks the bootstrap stack itself.
                .synthesizer(
                    DefaultStackSynthesizer.Builder.create()
                        .generateBootstrapVersionRule(false)
                        .build())
                .build());
    // The CDK declares the dependency of a function on its role twice, which W3005 reports.
    stack
        .getTemplateOptions()
        .setMetadata(
            Map.of("cfn-lint", Map.of("config", Map.of("ignore_checks", List.of("W3005")))));
    return stack;
  }

  private static void addApplicationRole(Stack stack, Tollgate tollgate) {
    Role role =
        Role.Builder.create(stack, "Application")
            .assumedBy(new AccountRootPrincipal())
            .description("The role of programs of this account that claim tokens.")
            .build();
    Map<String, String> variables = tollgate.grantClaims(role);
    output(stack, "ApplicationRole", role.getRoleArn());
    output(stack, "ApplicationVariables", lines(variables));
  }

  private static String lines(Map<String, String> values) {
    return values.entrySet().stream()
        .map(value -> value.getKey() + "=" + value.getValue())
        .collect(Collectors.joining("\n"));
  }

  private static Optional<SessionAccess> jwt(App app) {
    String issuer = context(app, "jwtIssuer", "");
    String audiences = context(app, "jwtAudience", "");
    String claim = context(app, "jwtTenantClaim", "");
    if (!issuer.isEmpty()) {
      return Optional.of(
          new SessionAccess.Jwt(
              issuer,
              audiences.isEmpty() ? List.of() : List.of(audiences.split(",", -1)),
              claim.isEmpty() ? "tenantId" : claim));
    }
    if (!audiences.isEmpty() || !claim.isEmpty()) {
      throw new IllegalArgumentException(
          "jwtIssuer: \"\" (expected: the issuer of the tokens, because jwtAudience or jwtTenantClaim"
              + " is set)");
    }
    return Optional.empty();
  }

  /** The stack's name. Prefixes end with an underscore, which stack names must not contain. */
  static String stackName(String prefix) {
    return prefix.isEmpty() ? "Tollgate" : "Tollgate-" + prefix.replace("_", "");
  }

  /** The findings of cdk-nag and the CDK itself. */
  static List<String> findings(App app) {
    return app.getNode().findAll().stream()
        .flatMap(
            construct ->
                construct.getNode().getMetadata().stream()
                    .filter(entry -> FINDING_TYPES.contains(entry.getType()))
                    .map(entry -> construct.getNode().getPath() + ": " + entry.getData()))
        .toList();
  }

  private static void output(Stack stack, String name, String value) {
    CfnOutput.Builder.create(stack, name).value(value).build();
  }

  private static OptionalInt number(App app, String name, String hint) {
    String value = context(app, name, "");
    if (value.isEmpty()) {
      return OptionalInt.empty();
    }
    if (!value.matches("[1-9][0-9]{0,5}")) {
      throw new IllegalArgumentException(
          name + ": \"" + value + "\" (expected: a whole number, 1 to 999999" + hint + ")");
    }
    return OptionalInt.of(Integer.parseInt(value));
  }

  private static String choice(App app, String name, String defaultValue, String other) {
    String value = context(app, name, defaultValue);
    if (!value.equals(defaultValue) && !value.equals(other)) {
      throw new IllegalArgumentException(
          name + ": \"" + value + "\" (expected: " + defaultValue + " or " + other + ")");
    }
    return value;
  }

  private static String context(App app, String name, String absent) {
    Object value = app.getNode().tryGetContext(name);
    return value == null ? absent : value.toString();
  }
}
