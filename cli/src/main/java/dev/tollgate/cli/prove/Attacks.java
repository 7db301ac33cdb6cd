package dev.tollgate.cli.prove;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Paths;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.prove.account.Account;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Tries to read and take what belongs to others: each attempt must be denied. At last, revokes the
 * active sessions of tenants' roles, which no tenant may notice for long.
 */
final class Attacks implements Step {
  private static final String TENANT_ROLE =
      "infra/src/main/java/dev/tollgate/infra/TenantRole.java";
  private static final String TABLES = "infra/src/main/java/dev/tollgate/infra/Tables.java";
  private static final String HTTP_APIS = "infra/src/main/java/dev/tollgate/infra/HttpApis.java";
  private static final String ATTACKER = "prove-attacker";
  private static final String VICTIM = "prove-victim";
  private static final String GET_ITEM = "DynamoDB_20120810.GetItem";
  private static final String SCAN = "DynamoDB_20120810.Scan";
  private static final String RECEIVE = "AmazonSQS.ReceiveMessage";

  @Override
  public String name() {
    return "attacks";
  }

  @Override
  public String description() {
    return "As one tenant, try to read and take what belongs to another; and as an administrator,"
        + " the credentials of tenants. Then revoke the active sessions of tenants' roles.";
  }

  @Override
  public int cents(Run.Settings settings) {
    return 1;
  }

  @Override
  public Duration usual(Run.Settings settings) {
    return Duration.ofMinutes(4);
  }

  @Override
  public List<Finding> run(Run run) {
    Api control = run.controlPlane();
    List.of(ATTACKER, VICTIM).forEach(tenant -> onboard(control, tenant));
    Map<String, String> outputs = run.outputs(run.stackName());
    Map<String, String> variables = variables(outputs.getOrDefault("ApplicationVariables", ""));
    String tenantRole = variables.getOrDefault("TENANT_ROLE_ARN", "");
    String table = variables.getOrDefault("LIMIT_TABLE", "");
    Account account = run.stacks().account(run.stackName());
    Account application = account.as(outputs.getOrDefault("ApplicationRole", ""));
    Account attacker = application.as(tenantRole, Map.of("tenantId", ATTACKER));

    List<Finding> findings = new ArrayList<>();
    findings.addAll(
        ofOneTenant(
            "a tenant's role reads its own rows",
            row(attacker, table, ATTACKER),
            "a tenant's role cannot read another tenant's rows",
            row(attacker, table, VICTIM)));
    findings.addAll(
        ofOneTenant(
            "a tenant's role receives its own tokens",
            receive(attacker, variables, ATTACKER),
            "a tenant's role cannot take another tenant's tokens",
            receive(attacker, variables, VICTIM)));
    findings.add(
        denied(
            "an application cannot read the table of limits without a tenant",
            application.call("dynamodb", SCAN, Json.object().put("TableName", table)),
            TENANT_ROLE));
    findings.add(
        cannotAssume(
            "nobody gets the role of all tenants at once", application, tenantRole, Map.of()));
    findings.add(
        cannotAssume(
            "an application cannot name a tenant with the prefix of another deployment",
            application,
            tenantRole,
            Map.of("tenantId", "send_" + VICTIM)));
    findings.addAll(credentials(run, account, application, table));
    findings.addAll(strangers(run, outputs));
    findings.addAll(
        new Revocation(run, ATTACKER)
            .findings(
                () -> application.as(tenantRole, Map.of("tenantId", ATTACKER)),
                who -> row(who, table, ATTACKER)));
    return findings;
  }

  private static void onboard(Api control, String tenant) {
    Response created =
        control.send(
            "POST", "/tenants", Json.object().put("tenantId", tenant).put("tier", "bronze"));
    // An earlier attempt of this step may have created it.
    if (created.status() != 409) {
      created.orThrow();
    }
    control.get(Paths.tenant(tenant)).orThrow();
  }

  private static List<Finding> credentials(
      Run run, Account account, Account application, String limits) {
    String promise = "the credentials of tenants are closed to ";
    List<String> tables = Teardown.tables(account).toList();
    Optional<String> table =
        tables.stream()
            .filter(name -> name.contains("Credentials"))
            .filter(name -> run.stacks().areLocal() || name.startsWith(run.stackName() + "-"))
            .findFirst();
    if (table.isEmpty()) {
      return List.of(withoutCredentials(tables, limits));
    }
    ObjectNode scan = Json.object().put("TableName", table.get());
    return List.of(
        denied(promise + "applications", application.call("dynamodb", SCAN, scan), TABLES),
        run.stacks().areLocal()
            ? Finding.unknown(
                promise + "administrators", "a local cloud allows its own caller everything")
            : administrator(promise + "administrators", account, limits, scan));
  }

  /** A list without the stack's table of limits proves nothing about other tables of the stack. */
  static Finding withoutCredentials(List<String> tables, String limits) {
    String promise = "no credentials of tenants are stored";
    return tables.contains(limits)
        ? Finding.holds(promise, "the stack has no table of them")
        : Finding.unknown(promise, "the list of tables has no " + limits);
  }

  /** Without an allowed scan, a denied one may be for lack of rights and say nothing of a table. */
  static Finding administrator(String promise, Account account, String limits, ObjectNode scan) {
    Response control =
        account.call("dynamodb", SCAN, Json.object().put("TableName", limits).put("Limit", 1));
    return control.succeeded()
        ? denied(promise, account.call("dynamodb", SCAN, scan), TABLES)
        : Finding.unknown(
            promise, "these credentials cannot scan the table of limits either: " + seen(control));
  }

  /** Requests without a signature. */
  private static List<Finding> strangers(Run run, Map<String, String> outputs) {
    List<Finding> findings = new ArrayList<>();
    Map<String, String> paths = new LinkedHashMap<>();
    paths.put("ControlPlaneURL", "/tenants");
    paths.put("SessionURL", "?tenantId=" + VICTIM);
    paths.forEach(
        (output, path) -> {
          String promise = output + " is closed to strangers";
          if (run.stacks().areLocal()) {
            findings.add(
                Finding.unknown(promise, "a local cloud does not ask for signatures here"));
            return;
          }
          URI uri = URI.create(outputs.getOrDefault(output, ""));
          Response answer =
              new Api(Api.client(), uri, Optional.empty())
                  .send(
                      output.equals("SessionURL") ? "PUT" : "GET",
                      path,
                      Optional.empty(),
                      Map.of());
          findings.add(closed(promise, answer));
        });
    return findings;
  }

  private static Response row(Account who, String table, String tenant) {
    ObjectNode request = Json.object().put("TableName", table);
    request.putObject("Key").putObject("tenantId").put("S", tenant);
    request.withObject("/Key").putObject("key").put("S", "connections");
    return who.call("dynamodb", GET_ITEM, request);
  }

  private static Response receive(Account who, Map<String, String> variables, String tenant) {
    String queue =
        variables.getOrDefault("QUEUE_URL_PREFIX", "")
            + variables.getOrDefault("NAME_PREFIX", "")
            + "connect_"
            + tenant
            + "_token_bucket";
    return who.call(
        "sqs", RECEIVE, Json.object().put("QueueUrl", queue).put("VisibilityTimeout", 0));
  }

  /** If a tenant is denied its own, that it is denied another one's proves nothing. */
  static List<Finding> ofOneTenant(String mayOwn, Response own, String not, Response others) {
    return List.of(
        allowed(mayOwn, own, TENANT_ROLE),
        own.succeeded()
            ? denied(not, others, TENANT_ROLE)
            : Finding.unknown(not, "it gets nothing of its own either: " + seen(own)));
  }

  static Finding allowed(String promise, Response answer, String mend) {
    return answer.succeeded()
        ? Finding.holds(promise, "")
        : isDenied(answer)
            ? Finding.fails(promise, seen(answer), mend)
            : Finding.unknown(promise, seen(answer));
  }

  /**
   * An answer that neither gives nor denies, such as one for expired credentials, proves nothing.
   */
  static Finding denied(String promise, Response answer, String mend) {
    return answer.succeeded()
        ? Finding.fails(promise, seen(answer), mend)
        : isDenied(answer) ? Finding.holds(promise, "") : Finding.unknown(promise, seen(answer));
  }

  static boolean isDenied(Response answer) {
    return answer.body().contains("AccessDenied");
  }

  /** A request without a signature: only API Gateway's own refusal proves that no function ran. */
  static Finding closed(String promise, Response answer) {
    boolean refused = Set.of(401, 403).contains(answer.status());
    return refused
        ? Finding.holds(promise, "")
        : answer.status() == 429 || answer.status() >= 500
            ? Finding.unknown(promise, seen(answer))
            : Finding.fails(promise, seen(answer), HTTP_APIS);
  }

  private static Finding cannotAssume(
      String promise, Account who, String role, Map<String, String> tags) {
    try {
      who.as(role, tags);
      return Finding.fails(promise, "credentials were issued", TENANT_ROLE);
    } catch (Failure refused) {
      return refused.reason().contains("not authorized")
          ? Finding.holds(promise, refused.reason())
          : Finding.unknown(promise, refused.reason());
    }
  }

  /** What an attack gets may be a secret, which no report may have. */
  private static String seen(Response answer) {
    if (answer.succeeded()) {
      return answer.status() + ", which gives access";
    }
    String body = answer.body();
    return answer.status() + " " + body.substring(0, Math.min(200, body.length()));
  }

  /** Lines {@code NAME=value}. */
  private static Map<String, String> variables(String lines) {
    Map<String, String> variables = new LinkedHashMap<>();
    lines
        .lines()
        .filter(line -> line.contains("="))
        .forEach(
            line ->
                variables.put(
                    line.substring(0, line.indexOf('=')), line.substring(line.indexOf('=') + 1)));
    return variables;
  }
}
