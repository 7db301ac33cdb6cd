package dev.tollgate.aws.lambda;

import dev.tollgate.aws.ScriptedAws;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.aws.ScriptedAws.Request;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.provisioning.FunctionQuotas;
import dev.tollgate.core.tenant.Release;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Lambda's behaviour for the functions and mappings of tenants, as far as the adapter needs it. A
 * change stays in progress until it was read once; until then Lambda refuses another change.
 */
final class ScriptedLambda {
  static final String FUNCTIONS = "/2015-03-31/functions";
  static final String MAPPINGS = "/2015-03-31/event-source-mappings";
  private static final Pattern DESCRIPTION = Pattern.compile("\"Description\":\"([^\"]*)\"");
  private static final Pattern VARIABLES = Pattern.compile("\"Variables\":(\\{[^}]*\\})");

  private static final Pattern CODE = Pattern.compile("\"S3Key\":\"([^\"]*)\"");

  private final ScriptedAws services;
  private final Map<String, Function> functions = new HashMap<>();
  private final Map<String, Mapping> mappings = new HashMap<>();
  private final Map<String, String> assets = new HashMap<>();
  private long codeSize = 16_000_000;

  ScriptedLambda(ScriptedAws services) {
    this.services = services;
    services.on("POST " + FUNCTIONS, this::create);
  }

  private static final class Function {
    private String description = "";
    private String code = "";
    private String variables = "{}";
    private boolean isNew = true;
    private boolean isChanging = true;
  }

  private static final class Mapping {
    private String state = "Creating";
  }

  static String name(TenantId tenant) {
    return "blue_silo_" + tenant;
  }

  /** A published version of the pool's processor, with this asset as its code. */
  synchronized void publish(Release release, String asset, String sha256) {
    publish(release, asset, sha256, "{\"MESSAGE_HANDLER\":\"com.example.Handler\"}");
  }

  /** A published version with these environment variables, as JSON. */
  synchronized void publish(Release release, String asset, String sha256, String variables) {
    assets.put(asset, sha256);
    services.on(
        "GET " + FUNCTIONS + "/" + release,
        request ->
            Answer.ok(
                """
                {"Configuration":{"FunctionName":"processor","Description":"Messages.",
                 "State":"Active","LastUpdateStatus":"Successful","CodeSha256":"%s","CodeSize":%d,
                 "Architectures":["arm64"],"Handler":"dev.tollgate.handlers.message.MessageProcessor",
                 "Runtime":"java25","Role":"arn:aws:iam::000000000000:role/Processor",
                 "MemorySize":1024,"Timeout":15,
                 "Environment":{"Variables":%s},
                 "Layers":[{"Arn":"arn:aws:lambda:eu-central-1:000000000000:layer:l:1"}],
                 "LoggingConfig":{"LogFormat":"JSON","LogGroup":"processor-log"},
                 "TracingConfig":{"Mode":"Active"}}}"""
                    .formatted(sha256, codeSize, variables)));
  }

  /** Sets the account's quotas, with 1 GB of code in use, and the size of published versions. */
  synchronized void allow(FunctionQuotas account) {
    codeSize = account.siloCodeBytes();
    services.on(
        "GET /2016-08-19/account-settings",
        request ->
            Answer.ok(
                """
                {"AccountLimit":{"CodeSizeUnzipped":262144000,"CodeSizeZipped":52428800,
                 "ConcurrentExecutions":%d,"TotalCodeSize":%d,"UnreservedConcurrentExecutions":%d},
                 "AccountUsage":{"FunctionCount":12,"TotalCodeSize":1000000000}}"""
                    .formatted(
                        account.executions() + 100,
                        account.freeCodeBytes() + 1_000_000_000,
                        account.executions())));
  }

  /** Adds a tenant. */
  synchronized void expect(TenantId tenant) {
    String name = name(tenant);
    String path = FUNCTIONS + "/" + name;
    services.on("GET " + path, request -> get(name));
    services.on("PUT " + path + "/code", request -> update(name, request));
    services.on("PUT " + path + "/configuration", request -> update(name, request));
    services.on("DELETE " + path, request -> delete(name));
    services.on("POST " + MAPPINGS, request -> map(request));
    services.on("GET " + MAPPINGS, request -> list(name));
    services.on("PUT " + MAPPINGS + "/" + name, request -> remap(name));
    services.on("DELETE " + MAPPINGS + "/" + name, request -> unmap(name));
  }

  synchronized Optional<Release> release(TenantId tenant) {
    return Optional.ofNullable(functions.get(name(tenant)))
        .map(function -> new Release(function.description));
  }

  synchronized boolean isAttached(TenantId tenant) {
    return Optional.ofNullable(mappings.get(name(tenant)))
        .filter(mapping -> mapping.state.equals("Enabled"))
        .isPresent();
  }

  /** Sets the state of a mapping, as another caller would. */
  synchronized void state(TenantId tenant, String state) {
    mappings.computeIfAbsent(name(tenant), any -> new Mapping()).state = state;
  }

  private static Answer conflict() {
    return Answer.failure(409, "ResourceConflictException");
  }

  private static Answer notFound() {
    return Answer.failure(404, "ResourceNotFoundException");
  }

  private synchronized Answer create(Request request) {
    String name = found(Pattern.compile("\"FunctionName\":\"([^\"]*)\""), request).orElseThrow();
    if (functions.containsKey(name)) {
      return conflict();
    }
    Function function = new Function();
    change(function, request);
    functions.put(name, function);
    return configuration(function);
  }

  private synchronized Answer update(String name, Request request) {
    Function function = functions.get(name);
    if (function == null) {
      return notFound();
    }
    if (function.isChanging) {
      return conflict();
    }
    function.isChanging = true;
    change(function, request);
    return configuration(function);
  }

  private void change(Function function, Request request) {
    found(DESCRIPTION, request).ifPresent(description -> function.description = description);
    found(VARIABLES, request).ifPresent(variables -> function.variables = variables);
    found(CODE, request).ifPresent(key -> function.code = assets.getOrDefault(key, key));
  }

  private static Optional<String> found(Pattern pattern, Request request) {
    Matcher matcher = pattern.matcher(request.body());
    return matcher.find() ? Optional.of(matcher.group(1)) : Optional.empty();
  }

  private static Answer configuration(Function function) {
    return Answer.ok(json(function));
  }

  private static String json(Function function) {
    return """
        {"Description":"%s","CodeSha256":"%s","Architectures":["arm64"],"State":"%s",
         "LastUpdateStatus":"%s","Environment":{"Variables":%s}}"""
        .formatted(
            function.description,
            function.code,
            function.isNew ? "Pending" : "Active",
            function.isChanging ? "InProgress" : "Successful",
            function.variables);
  }

  private synchronized Answer get(String name) {
    Function function = functions.get(name);
    if (function == null) {
      return notFound();
    }
    Answer answer = Answer.ok("{\"Configuration\":" + json(function) + "}");
    function.isNew = false;
    function.isChanging = false;
    return answer;
  }

  private synchronized Answer delete(String name) {
    return functions.remove(name) == null ? notFound() : new Answer(204, Optional.empty(), "");
  }

  private synchronized Answer map(Request request) {
    String name = found(Pattern.compile("\"FunctionName\":\"([^\"]*)\""), request).orElseThrow();
    if (!functions.containsKey(name)) {
      return Answer.failure(400, "InvalidParameterValueException");
    }
    if (mappings.containsKey(name)) {
      return conflict();
    }
    mappings.put(name, new Mapping());
    return mapping(name);
  }

  private synchronized Answer list(String name) {
    if (!mappings.containsKey(name)) {
      return Answer.ok("{\"EventSourceMappings\":[]}");
    }
    Answer answer = Answer.ok("{\"EventSourceMappings\":[" + mapping(name).body() + "]}");
    Mapping mapping = mappings.get(name);
    if (mapping != null) {
      moveOn(name, mapping);
    }
    return answer;
  }

  private void moveOn(String name, Mapping mapping) {
    if (mapping.state.equals("Deleting")) {
      mappings.remove(name);
    } else if (mapping.state.endsWith("ing")) {
      mapping.state = "Enabled";
    }
  }

  private Answer mapping(String name) {
    return Answer.ok(
        """
        {"UUID":"%s","State":"%s","BatchSize":10,
         "FunctionResponseTypes":["ReportBatchItemFailures"]}"""
            .formatted(
                name,
                Optional.ofNullable(mappings.get(name))
                    .map(mapping -> mapping.state)
                    .orElse("Deleting")));
  }

  private synchronized Answer remap(String name) {
    return changed(name, "Updating");
  }

  private synchronized Answer unmap(String name) {
    return changed(name, "Deleting");
  }

  private Answer changed(String name, String next) {
    Mapping mapping = mappings.get(name);
    if (mapping == null) {
      return notFound();
    }
    if (mapping.state.endsWith("ing")) {
      return Answer.failure(400, "ResourceInUseException");
    }
    mapping.state = next;
    return mapping(name);
  }
}
