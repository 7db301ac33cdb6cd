package dev.tollgate.aws.lambda;

import static dev.tollgate.aws.SdkCalls.ask;
import static dev.tollgate.aws.SdkCalls.askUnless;

import dev.tollgate.aws.Arns;
import dev.tollgate.aws.ResourceNames;
import dev.tollgate.aws.credentials.TenantCredentials;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.provisioning.FunctionQuotas;
import dev.tollgate.core.provisioning.Progress;
import dev.tollgate.core.provisioning.SiloFunctions;
import dev.tollgate.core.tenant.Release;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.lambda.LambdaClient;
import software.amazon.awssdk.services.lambda.model.AccountLimit;
import software.amazon.awssdk.services.lambda.model.Environment;
import software.amazon.awssdk.services.lambda.model.EventSourceMappingConfiguration;
import software.amazon.awssdk.services.lambda.model.FunctionConfiguration;
import software.amazon.awssdk.services.lambda.model.FunctionResponseType;
import software.amazon.awssdk.services.lambda.model.GetAccountSettingsRequest;
import software.amazon.awssdk.services.lambda.model.GetAccountSettingsResponse;
import software.amazon.awssdk.services.lambda.model.LastUpdateStatus;
import software.amazon.awssdk.services.lambda.model.Layer;
import software.amazon.awssdk.services.lambda.model.ResourceConflictException;
import software.amazon.awssdk.services.lambda.model.ResourceInUseException;
import software.amazon.awssdk.services.lambda.model.ResourceNotFoundException;
import software.amazon.awssdk.services.lambda.model.State;
import software.amazon.awssdk.services.lambda.model.TracingConfig;
import software.amazon.awssdk.services.lambda.model.TracingConfigResponse;
import software.amazon.awssdk.services.lambda.model.TracingMode;

/**
 * Silo functions: copies of the pool's message processor, each with an event source mapping.
 *
 * <p>A release is the ARN of a published version of the pool's processor. A silo function gets that
 * version's configuration, and its code comes from the asset that the version was created from.
 * Code and configuration are two updates, and Lambda accepts the second only when the first is
 * complete. The configuration comes second, and its description holds the release. So a function
 * whose description matches has both.
 *
 * <p>All requests use the tenant's credentials, except those for the published version, the list of
 * mappings and the account's quotas. Functions have no tags, which would need another permission.
 */
public final class LambdaSiloFunctions implements SiloFunctions {
  private static final int BATCH_SIZE = 10;

  private final LambdaClient lambda;
  private final ResourceNames names;
  private final Arns arns;
  private final Code code;
  private final TenantCredentials credentials;

  /** Published versions, which are immutable. */
  private final Map<Release, FunctionConfiguration> versions = new ConcurrentHashMap<>();

  /** Silo functions with this code. */
  public LambdaSiloFunctions(
      LambdaClient lambda,
      ResourceNames names,
      Arns arns,
      Code code,
      TenantCredentials credentials) {
    this.lambda = lambda;
    this.names = names;
    this.arns = arns;
    this.code = code;
    this.credentials = credentials;
  }

  /** The S3 object of the processor's code. */
  public record Code(String bucket, String key) {}

  @Override
  public Progress ensure(TenantId tenant, Release release) {
    AwsRequestOverrideConfiguration as = credentials.as(tenant);
    String name = names.siloFunction(tenant);
    Optional<FunctionConfiguration> found = find(name, as);
    if (found.isEmpty()) {
      return changing("CreateFunction of " + name, () -> create(name, release, as));
    }
    FunctionConfiguration current = found.get();
    if (current.state() == State.FAILED) {
      throw new Unavailable("Lambda function " + name + ": failed: " + current.stateReason());
    }
    if (current.state() == State.PENDING
        || current.lastUpdateStatus() == LastUpdateStatus.IN_PROGRESS) {
      return Progress.IN_PROGRESS;
    }
    if (release.value().equals(current.description())
        && current.lastUpdateStatus() != LastUpdateStatus.FAILED) {
      return Progress.DONE;
    }
    FunctionConfiguration version = version(release);
    if (!variables(current).keySet().containsAll(variables(version).keySet())) {
      return changing(
          "UpdateFunctionConfiguration of " + name, () -> addVariables(name, current, version, as));
    }
    return hasCodeOf(version, current)
        ? changing("UpdateFunctionConfiguration of " + name, () -> configure(name, release, as))
        : changing("UpdateFunctionCode of " + name, () -> replaceCode(name, version, as));
  }

  /** Starts an asynchronous change, unless another change is in progress. */
  private static Progress changing(String what, Runnable change) {
    return ask(
        "Lambda " + what,
        () -> {
          try {
            change.run();
          } catch (ResourceConflictException | ResourceInUseException another) {
            return Progress.IN_PROGRESS;
          }
          return Progress.IN_PROGRESS;
        });
  }

  private Optional<FunctionConfiguration> find(String name, AwsRequestOverrideConfiguration as) {
    return askUnless(
        "Lambda GetFunction of " + name,
        ResourceNotFoundException.class,
        () ->
            lambda
                .getFunction(request -> request.overrideConfiguration(as).functionName(name))
                .configuration());
  }

  private FunctionConfiguration version(Release release) {
    return versions.computeIfAbsent(
        release,
        wanted ->
            ask(
                "Lambda GetFunction of " + wanted,
                () ->
                    lambda
                        .getFunction(request -> request.functionName(wanted.value()))
                        .configuration()));
  }

  private static boolean hasCodeOf(FunctionConfiguration version, FunctionConfiguration function) {
    return version.codeSha256().equals(function.codeSha256())
        && version.architectures().equals(function.architectures());
  }

  private void create(String name, Release release, AwsRequestOverrideConfiguration as) {
    FunctionConfiguration version = version(release);
    lambda.createFunction(
        request ->
            request
                .overrideConfiguration(as)
                .functionName(name)
                .description(release.value())
                .code(from -> from.s3Bucket(code.bucket()).s3Key(code.key()))
                .architectures(version.architectures())
                .handler(version.handler())
                .runtime(version.runtime())
                .role(version.role())
                .memorySize(version.memorySize())
                .timeout(version.timeout())
                .environment(environment(version))
                .layers(layers(version))
                .loggingConfig(version.loggingConfig())
                .tracingConfig(tracing(version)));
  }

  private void replaceCode(
      String name, FunctionConfiguration version, AwsRequestOverrideConfiguration as) {
    String sha256 =
        lambda
            .updateFunctionCode(
                request ->
                    request
                        .overrideConfiguration(as)
                        .functionName(name)
                        .s3Bucket(code.bucket())
                        .s3Key(code.key())
                        .architectures(version.architectures()))
            .codeSha256();
    if (!version.codeSha256().equals(sha256)) {
      throw new Unavailable(
          "Lambda UpdateFunctionCode of "
              + name
              + ": "
              + code.key()
              + " is not the release's code");
    }
  }

  /**
   * Adds variables that the release's code needs, before that code runs. Code of older releases
   * ignores them, and keeps the values of the others.
   */
  private void addVariables(
      String name,
      FunctionConfiguration current,
      FunctionConfiguration version,
      AwsRequestOverrideConfiguration as) {
    Map<String, String> all = new HashMap<>(variables(version));
    all.putAll(variables(current));
    lambda.updateFunctionConfiguration(
        request ->
            request
                .overrideConfiguration(as)
                .functionName(name)
                .environment(environment -> environment.variables(all)));
  }

  private void configure(String name, Release release, AwsRequestOverrideConfiguration as) {
    FunctionConfiguration version = version(release);
    lambda.updateFunctionConfiguration(
        request ->
            request
                .overrideConfiguration(as)
                .functionName(name)
                .description(release.value())
                .handler(version.handler())
                .runtime(version.runtime())
                .role(version.role())
                .memorySize(version.memorySize())
                .timeout(version.timeout())
                .environment(environment(version))
                .layers(layers(version))
                .loggingConfig(version.loggingConfig())
                .tracingConfig(tracing(version)));
  }

  private static TracingConfig tracing(FunctionConfiguration version) {
    TracingMode mode =
        Optional.ofNullable(version.tracingConfig())
            .map(TracingConfigResponse::mode)
            .orElse(TracingMode.PASS_THROUGH);
    return TracingConfig.builder().mode(mode).build();
  }

  private static Environment environment(FunctionConfiguration version) {
    return Environment.builder().variables(variables(version)).build();
  }

  private static Map<String, String> variables(FunctionConfiguration function) {
    return Optional.ofNullable(function.environment())
        .map(environment -> environment.variables())
        .orElse(Map.of());
  }

  private static List<String> layers(FunctionConfiguration version) {
    return version.layers().stream().map(Layer::arn).toList();
  }

  @Override
  public Progress attach(TenantId tenant) {
    AwsRequestOverrideConfiguration as = credentials.as(tenant);
    String name = names.siloFunction(tenant);
    Optional<EventSourceMappingConfiguration> found = mapping(tenant);
    if (found.isEmpty()) {
      return changing("CreateEventSourceMapping of " + name, () -> map(tenant, as));
    }
    EventSourceMappingConfiguration current = found.get();
    return switch (current.state()) {
      case "Enabled" ->
          isConfigured(current)
              ? Progress.DONE
              : changing("UpdateEventSourceMapping of " + name, () -> remap(current.uuid(), as));
      case "Disabled" ->
          changing("UpdateEventSourceMapping of " + name, () -> remap(current.uuid(), as));
      default -> Progress.IN_PROGRESS;
    };
  }

  private static boolean isConfigured(EventSourceMappingConfiguration mapping) {
    return mapping.batchSize() == BATCH_SIZE
        && mapping
            .functionResponseTypes()
            .equals(List.of(FunctionResponseType.REPORT_BATCH_ITEM_FAILURES));
  }

  private void map(TenantId tenant, AwsRequestOverrideConfiguration as) {
    lambda.createEventSourceMapping(
        request ->
            request
                .overrideConfiguration(as)
                .functionName(names.siloFunction(tenant))
                .eventSourceArn(arns.queue(names.siloQueue(tenant)))
                .batchSize(BATCH_SIZE)
                .functionResponseTypes(FunctionResponseType.REPORT_BATCH_ITEM_FAILURES)
                .enabled(true));
  }

  private void remap(String uuid, AwsRequestOverrideConfiguration as) {
    lambda.updateEventSourceMapping(
        request ->
            request
                .overrideConfiguration(as)
                .uuid(uuid)
                .batchSize(BATCH_SIZE)
                .functionResponseTypes(FunctionResponseType.REPORT_BATCH_ITEM_FAILURES)
                .enabled(true));
  }

  /**
   * The mapping from the tenant's queue to its function. Uses the function's own role, since IAM
   * cannot restrict a list to one tenant.
   */
  private Optional<EventSourceMappingConfiguration> mapping(TenantId tenant) {
    String name = names.siloFunction(tenant);
    return askUnless(
            "Lambda ListEventSourceMappings of " + name,
            ResourceNotFoundException.class,
            () ->
                lambda
                    .listEventSourceMappings(
                        request ->
                            request
                                .functionName(name)
                                .eventSourceArn(arns.queue(names.siloQueue(tenant))))
                    .eventSourceMappings())
        .flatMap(mappings -> mappings.stream().findFirst());
  }

  /**
   * {@inheritDoc}
   *
   * <p>Done when Lambda has accepted the deletion of the mapping, because it cannot be reverted.
   */
  @Override
  public Progress detach(TenantId tenant) {
    AwsRequestOverrideConfiguration as = credentials.as(tenant);
    Optional<EventSourceMappingConfiguration> found = mapping(tenant);
    if (found.isEmpty() || found.get().state().equals("Deleting")) {
      return Progress.DONE;
    }
    return removing(
        "DeleteEventSourceMapping of " + names.siloFunction(tenant),
        () ->
            lambda.deleteEventSourceMapping(
                request -> request.overrideConfiguration(as).uuid(found.get().uuid())));
  }

  @Override
  public Progress delete(TenantId tenant) {
    AwsRequestOverrideConfiguration as = credentials.as(tenant);
    String name = names.siloFunction(tenant);
    return removing(
        "DeleteFunction of " + name,
        () ->
            lambda.deleteFunction(request -> request.overrideConfiguration(as).functionName(name)));
  }

  /**
   * {@inheritDoc}
   *
   * <p>Uses the function's own role. IAM has no resource for {@code GetAccountSettings}.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/lambda/latest/api/API_GetAccountSettings.html">GetAccountSettings</a>
   */
  @Override
  public FunctionQuotas quotas(Release release) {
    long siloCodeBytes = version(release).codeSize();
    return ask(
        "Lambda GetAccountSettings",
        () -> {
          GetAccountSettingsResponse account =
              lambda.getAccountSettings(GetAccountSettingsRequest.builder().build());
          AccountLimit limit = account.accountLimit();
          return new FunctionQuotas(
              limit.unreservedConcurrentExecutions(),
              Math.max(0, limit.totalCodeSize() - account.accountUsage().totalCodeSize()),
              siloCodeBytes);
        });
  }

  private static Progress removing(String what, Runnable removal) {
    return ask(
        "Lambda " + what,
        () -> {
          try {
            removal.run();
            return Progress.DONE;
          } catch (ResourceNotFoundException none) {
            return Progress.DONE;
          } catch (ResourceConflictException | ResourceInUseException changing) {
            return Progress.IN_PROGRESS;
          }
        });
  }
}
