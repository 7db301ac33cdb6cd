package dev.tollgate.local;

import dev.tollgate.local.bus.EventBus;
import dev.tollgate.local.cloudwatch.CloudWatch;
import dev.tollgate.local.cloudwatch.Metric;
import dev.tollgate.local.endpoint.AccessKey;
import dev.tollgate.local.endpoint.AccessKeys;
import dev.tollgate.local.endpoint.Endpoint;
import dev.tollgate.local.endpoint.Principal;
import dev.tollgate.local.endpoint.RecordedRequests;
import dev.tollgate.local.endpoint.SecurityTokens;
import dev.tollgate.local.endpoint.ServiceClient;
import dev.tollgate.local.engines.QueueEngine;
import dev.tollgate.local.engines.TableEngine;
import dev.tollgate.local.events.EventSources;
import dev.tollgate.local.faults.FaultKind;
import dev.tollgate.local.faults.Faults;
import dev.tollgate.local.faults.RequestFaults;
import dev.tollgate.local.gateway.Gateway;
import dev.tollgate.local.gateway.jwt.KeySets;
import dev.tollgate.local.hosts.AllowedHosts;
import dev.tollgate.local.iam.Context;
import dev.tollgate.local.iam.Policies;
import dev.tollgate.local.iam.Policy;
import dev.tollgate.local.iam.access.Accesses;
import dev.tollgate.local.iam.access.RolePolicies;
import dev.tollgate.local.iam.access.TableKeys;
import dev.tollgate.local.iam.access.TablePolicies;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.AsyncInvocations;
import dev.tollgate.local.lambda.FunctionCatalog;
import dev.tollgate.local.lambda.FunctionHost;
import dev.tollgate.local.lambda.LambdaApi;
import dev.tollgate.local.lambda.LogLine;
import dev.tollgate.local.lambda.runtime.FunctionSpec;
import dev.tollgate.local.logs.FunctionLogs;
import dev.tollgate.local.resources.Stack;
import dev.tollgate.local.rest.RestApi;
import dev.tollgate.local.scheduler.Scheduler;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.template.Template;
import dev.tollgate.local.threads.DaemonThreads;
import dev.tollgate.local.xray.XRay;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.DoubleSupplier;
import java.util.function.UnaryOperator;

/**
 * Runs the stack of a synthesized CDK template in one JVM, on embedded engines. It needs neither
 * Docker nor an AWS account.
 */
public final class LocalCloud implements AutoCloseable {
  private static final String READ_ALARMS_AND_LOGS =
      """
      {"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Action": "cloudwatch:DescribeAlarms", "Resource": "*"},
        {"Effect": "Allow", "Action": "logs:FilterLogEvents", "Resource": "*"},
        {"Effect": "Allow", "Action": ["xray:BatchGetTraces", "xray:GetTraceSummaries"],
         "Resource": "*"}]}
      """;

  private final Deque<AutoCloseable> opened = new ArrayDeque<>();
  private final RecordedRequests requests = new RecordedRequests();
  private final AccessKeys accessKeys;
  private final TableKeys tableKeys = new TableKeys();
  private final TablePolicies tablePolicies;
  private final Options options;
  private final Faults faults;
  private final Environment environment;
  private final RunLog log;
  private final DataDirectory data;
  private final Policies policies;
  private final Endpoint endpoint;
  private final SecurityTokens securityTokens;
  private final FunctionHost functions;
  private final FunctionCatalog catalog;
  private final EventSources eventSources;
  private final AsyncInvocations asynchronous;
  private final CloudWatch cloudWatch;
  private final FunctionLogs functionLogs = new FunctionLogs(this::logGroups);
  private final EventBus eventBus;
  private final XRay xRay;
  private final Gateway gateway;
  private final Scheduler scheduler;
  private final Map<String, String> outputs;

  private LocalCloud(Options options) throws Exception {
    this.options = options;
    faults = new Faults(options.faults());
    try {
      Template template = Template.read(options.assembly());
      environment = Environment.of(template.stackName(), options.clock());
      log = closedLater(new RunLog(options.clock(), options.logFile()));
      data = closedLater(new DataDirectory(options.dataDirectory()));
      accessKeys = closedLater(new AccessKeys(options.dataDirectory()));
      TableEngine tables =
          closedLater(new TableEngine(data.subdirectory("tables"), environment.region()));
      QueueEngine queues = closedLater(startQueues());
      policies = new Policies(options.iam(), resource -> policyOfQueue(queues, resource));
      endpoint = closedLater(openEndpoint());
      options.observer().ifPresent(endpoint::observe);
      tablePolicies = new TablePolicies(policies);
      endpoint.serve("dynamodb", tablePolicies.before(tables.handler()));
      endpoint.serve("sqs", queues.handler());
      securityTokens = new SecurityTokens(accessKeys, options.clock());
      endpoint.serve("sts", securityTokens);
      endpoint.serve("iam", new RolePolicies(policies, environment));
      AccountApis account = new AccountApis(environment);
      endpoint.serve("cloudformation", account::describeStacks);
      endpoint.serve("apigateway", AccountApis::settingsOfApiGateway);
      cloudWatch = closedLater(new CloudWatch(environment, queues::measure, log::event));
      endpoint.serve("monitoring", cloudWatch);
      endpoint.serve("logs", functionLogs);
      xRay = closedLater(new XRay(log::event));
      endpoint.serve("xray", xRay);
      eventBus = new EventBus(log::event);
      endpoint.serve("events", eventBus);
      functions = closedLater(new FunctionHost(options.clock(), accessKeys, this::logged));
      functions.measure(cloudWatch.metrics());
      cloudWatch.quota(FunctionHost.CONCURRENT_EXECUTIONS, functions::quota);
      catalog = closedLater(openCatalog(template));
      eventSources = closedLater(openEventSources());
      endpoint.watch(eventSources::saw);
      ExecutorService workers = Executors.newCachedThreadPool(new DaemonThreads("lambda-api"));
      closedLater(workers::shutdownNow);
      Map<String, RestApi.Operation> operations = new HashMap<>(catalog.operations());
      operations.putAll(eventSources.operations());
      asynchronous = closedLater(openAsyncInvocations());
      asynchronous.measure(cloudWatch.metrics());
      endpoint.serve(
          "lambda",
          new LambdaApi(functions, asynchronous, workers, catalog::requireActive, operations));
      gateway = closedLater(openGateway());
      scheduler = closedLater(openScheduler());
      endpoint.serve("scheduler", scheduler.http());
      outputs = createStack(template);
      scheduler.start();
      eventSources.start();
      cloudWatch.start();
      requests.clear();
    } catch (Exception e) {
      close();
      throw e;
    }
  }

  /**
   * Starts a cloud. When this method returns, all resources of the stack can be used.
   *
   * @throws dev.tollgate.local.template.TemplateException if the template has something that is not
   *     supported
   * @throws IllegalStateException if a service does not start
   */
  public static LocalCloud start(Options options) {
    try {
      return new LocalCloud(options);
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException("The local cloud does not start", e);
    }
  }

  /**
   * Serves a part of the invocations of each function that exists now with another version of it,
   * like an alias that routes to two versions.
   *
   * @param other the other version of a function, with the same name and ARNs
   * @param part the other version's part, from 0 to 1; asked at each invocation
   */
  public void runBeside(UnaryOperator<FunctionSpec> other, DoubleSupplier part) {
    functions.putBeside(other, part);
  }

  /** The stack's outputs, by name. */
  public Map<String, String> outputs() {
    return Map.copyOf(outputs);
  }

  /**
   * Writes the outputs as {@code cdk deploy --outputs-file} does.
   *
   * @throws UncheckedIOException if the file cannot be written
   */
  public void writeOutputs(Path file) {
    try {
      PrivateFiles.write(
          file,
          List.of(
              Json.MAPPER
                  .writerWithDefaultPrettyPrinter()
                  .writeValueAsString(Map.of(environment.stackName(), new TreeMap<>(outputs)))));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The record of the AWS calls since the cloud was started. */
  public RecordedRequests requests() {
    return requests;
  }

  /** The account's default event bus. */
  public EventBus eventBus() {
    return eventBus;
  }

  /** The policies of the stack's roles, and the uses of their grants. */
  public Policies policies() {
    return policies;
  }

  /** The faults of this cloud: planned ones, and those that a test injects. */
  public Faults faults() {
    return faults;
  }

  /** The URL of the AWS APIs of this cloud: a value for {@code AWS_ENDPOINT_URL}. */
  public URI endpoint() {
    return endpoint.endpoint();
  }

  /**
   * Credentials for a caller outside of the stack, such as a test. Its calls are recorded under the
   * name, and all of them are allowed.
   */
  public AccessKey accessKey(String name) {
    String role = environment.globalArn("iam", "role/" + name);
    policies.addAdministrator(role);
    return accessKeys.issue(Principal.of(name, role));
  }

  /**
   * Credentials of a role of the stack.
   *
   * @param role the role's name
   * @throws IllegalArgumentException if there is no such role
   */
  public AccessKey accessKeyOf(String role) {
    String arn = environment.globalArn("iam", "role/" + role);
    if (!securityTokens.isRole(arn)) {
      throw new IllegalArgumentException("role: " + role + " (expected: one of the stack's)");
    }
    return accessKeys.issue(Principal.of(role, arn));
  }

  /**
   * The environment variables of a program that runs on this machine with a role of the stack:
   * endpoint, region and credentials.
   *
   * @param role the role's name
   * @throws IllegalArgumentException if there is no such role
   */
  public Map<String, String> environmentOf(String role) {
    return environmentOf(accessKeyOf(role));
  }

  /** The environment variables of a program with these credentials: also endpoint and region. */
  public Map<String, String> environmentOf(AccessKey key) {
    Map<String, String> variables = new TreeMap<>(key.environment());
    variables.put("AWS_ENDPOINT_URL", endpoint().toString());
    variables.put("AWS_REGION", environment.region());
    return variables;
  }

  /**
   * The environment variables of a program on this machine that may read the alarms, the functions'
   * logs and traces, and nothing else: endpoint, region and credentials.
   */
  public Map<String, String> environmentOfAlarms() {
    String name = "alarms";
    String role = environment.globalArn("iam", "role/" + name);
    policies.addRole(role, new Policy(List.of()));
    policies.attach(role, Policy.of(Json.readOrMissing(READ_ALARMS_AND_LOGS), name));
    return environmentOf(accessKeys.issue(Principal.of(name, role)));
  }

  /**
   * Waits until all work that is due at the clock's instant is done, including the work that it
   * caused: schedules, frames and disconnections, messages that can be received, the records of
   * streams, and asynchronous invocations. Delayed messages, messages in flight and later retries
   * are not due. Evaluates the alarms if a new minute has begun.
   */
  public void settle() throws InterruptedException {
    long before = -1;
    long ended = 0;
    while (ended != before) {
      before = ended;
      scheduler.settle();
      gateway.settle();
      ended = eventSources.settle() + asynchronous.settle();
    }
    cloudWatch.evaluate();
  }

  /**
   * Ends a function's invocations as if its processes had crashed.
   *
   * @throws IllegalArgumentException if there is no such function
   */
  public void kill(String functionName) {
    functions.kill(functionName);
  }

  /**
   * Refuses all invocations of a function from now on, as if its concurrency were used up, or ends
   * that.
   */
  public void throttle(String functionName, boolean throttled) {
    functions.throttle(functionName, throttled);
  }

  /**
   * Changes how many invocations of all functions may run at once; AWS's default is 1,000.
   *
   * @param executions at least the reserved ones
   */
  public void setConcurrencyQuota(int executions) {
    functions.setQuota(executions);
  }

  /** Records a sample of a metric now, as the service would that measures it. */
  public void record(Metric metric, double value) {
    cloudWatch.metrics().record(metric, environment.clock().instant(), value);
  }

  /** Stops all services, in reverse order of their start. */
  @Override
  public void close() {
    while (!opened.isEmpty()) {
      try {
        opened.removeLast().close();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (Exception e) {
        System.getLogger("dev.tollgate.local").log(System.Logger.Level.WARNING, "closing", e);
      }
    }
  }

  private void logged(LogLine line) {
    log.write(line);
    functionLogs.add(line);
    cloudWatch.logged(line.message());
  }

  private Map<String, String> logGroups() {
    return catalog.logGroups();
  }

  private QueueEngine startQueues() throws Exception {
    return new QueueEngine(
        data.subdirectory("queues"),
        environment,
        queue ->
            faults.occursIn(
                FaultKind.QUEUE_EXPIRES_EARLY,
                queue,
                environment.clock().instant().truncatedTo(ChronoUnit.MINUTES)));
  }

  private Endpoint openEndpoint() {
    return new Endpoint(
        accessKeys,
        new Accesses(environment, tableKeys, id -> eventSources.functionOf(id))
            .authorization(policies, log::event),
        requests,
        new RequestFaults(
                faults,
                policies::isAdministrator,
                name -> catalog.configuration(name).isPresent(),
                this::kill)
            ::before,
        environment.clock());
  }

  private FunctionCatalog openCatalog(Template template) throws IOException {
    AssumedRoles roles = rolesOf("Lambda", "lambda.amazonaws.com");
    return new FunctionCatalog(
        functions,
        environment,
        new FunctionCatalog.Account(
            Map.of(
                "AWS_ENDPOINT_URL", endpoint.endpoint().toString(),
                "AWS_REGION", environment.region()),
            xRay::daemonAddress,
            role -> securityTokens.isRole(role) && roles.mayAssume(role, Context.EMPTY),
            template::asset,
            name -> faults.changeTime(FaultKind.FUNCTION_PENDING, name)),
        data.subdirectory("functions"));
  }

  private AsyncInvocations openAsyncInvocations() {
    return new AsyncInvocations(
        functions,
        catalog::configuration,
        (name, role) -> client(Principal.of(name, role)),
        environment.clock(),
        log::event);
  }

  private EventSources openEventSources() throws IOException {
    return new EventSources(
        functions,
        catalog,
        client("Lambda"),
        this::client,
        policies,
        environment,
        data.subdirectory("functions"),
        table -> faults.occurs(FaultKind.STREAM_REPLAYED, table),
        function -> faults.changeTime(FaultKind.MAPPING_PENDING, function),
        log::event);
  }

  private Gateway openGateway() {
    return new Gateway(
        new InetSocketAddress(options.bind(), options.port()),
        new AllowedHosts(options.hosts()),
        faults.before(functions),
        new ServiceIntegrations(rolesOf("ApiGateway", "apigateway.amazonaws.com")),
        environment,
        endpoint::guard,
        log::event);
  }

  private Scheduler openScheduler() throws IOException {
    return new Scheduler(
        environment,
        new ScheduleTargets(
            asynchronous::accept,
            rolesOf("Scheduler", "scheduler.amazonaws.com"),
            environment.accountId(),
            group ->
                cloudWatch
                    .metrics()
                    .record(
                        new Metric(
                            "AWS/Scheduler",
                            "InvocationDroppedCount",
                            Map.of("ScheduleGroup", group)),
                        environment.clock().instant(),
                        1)),
        faults::scheduleDelays,
        group -> faults.changeTime(FaultKind.SCHEDULE_GROUP_DELETING, group),
        data.subdirectory("schedules"));
  }

  private Map<String, String> createStack(Template template) {
    KeySets keySets = new KeySets(options.keySets(), environment.clock());
    Stack stack =
        new Stack(
            template,
            environment,
            client("CloudFormation"),
            asynchronous,
            eventSources,
            catalog,
            cloudWatch,
            gateway,
            keySets,
            policies,
            scheduler,
            securityTokens,
            tableKeys,
            tablePolicies);
    Map<String, String> created = stack.create(options.faults().seed());
    keySets.refuseUnused();
    return created;
  }

  private AssumedRoles rolesOf(String name, String service) {
    return new AssumedRoles(name, service, this::client, policies);
  }

  private ServiceClient client(String principal) {
    return new ServiceClient(endpoint.endpoint(), accessKey(principal));
  }

  private ServiceClient client(Principal principal) {
    return new ServiceClient(endpoint.endpoint(), accessKeys.issue(principal));
  }

  private static Optional<Policy> policyOfQueue(QueueEngine queues, String resource) {
    return resource.startsWith("arn:aws:sqs:")
        ? queues
            .policy(resource.substring(resource.lastIndexOf(':') + 1))
            .map(document -> Policy.of(Json.readOrMissing(document), resource))
        : Optional.empty();
  }

  private <T extends AutoCloseable> T closedLater(T part) {
    opened.addLast(part);
    return part;
  }
}
