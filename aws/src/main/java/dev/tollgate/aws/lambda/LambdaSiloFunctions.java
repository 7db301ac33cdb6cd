package dev.tollgate.aws.lambda;

import static dev.tollgate.aws.SdkCalls.ask;

import dev.tollgate.aws.Arns;
import dev.tollgate.aws.ResourceNames;
import dev.tollgate.aws.credentials.TenantCredentials;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.provisioning.Progress;
import dev.tollgate.core.provisioning.Release;
import dev.tollgate.core.provisioning.SiloFunctions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.lambda.LambdaClient;
import software.amazon.awssdk.services.lambda.model.Environment;
import software.amazon.awssdk.services.lambda.model.EventSourceMappingConfiguration;
import software.amazon.awssdk.services.lambda.model.FunctionConfiguration;
import software.amazon.awssdk.services.lambda.model.FunctionResponseType;
import software.amazon.awssdk.services.lambda.model.LastUpdateStatus;
import software.amazon.awssdk.services.lambda.model.Layer;
import software.amazon.awssdk.services.lambda.model.ResourceConflictException;
import software.amazon.awssdk.services.lambda.model.ResourceInUseException;
import software.amazon.awssdk.services.lambda.model.ResourceNotFoundException;
import software.amazon.awssdk.services.lambda.model.State;

/**
 * Silos' functions: copies of the pool's processor, each fed by an event source mapping.
 *
 * <p>A release is the ARN of a published version of the pool's processor: what that is configured
 * with, a silo's function is, and its code is the asset that the version was made of. Code and
 * configuration are two updates, and Lambda takes the next only when the last has come to its end.
 * The configuration comes second and its description names the release, so a function that says so
 * has both.
 *
 * <p>Everything but the version and the list of mappings is asked for in the tenant's name. Nothing
 * is tagged, which would need a permission of its own.
 */
public final class LambdaSiloFunctions implements SiloFunctions {
  private static final int BATCH_SIZE = 10;

  private final LambdaClient lambda;
  private final ResourceNames names;
  private final Arns arns;
  private final Code code;
  private final TenantCredentials credentials;

  /** Published versions; they never change. */
  private final Map<Release, FunctionConfiguration> versions = new ConcurrentHashMap<>();

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

  /** Where the processor's code is. */
  public record Code(String bucket, String key) {}

  @Override
  public Progress ensure(TenantId tenant, Release release) {
    AwsRequestOverrideConfiguration as = credentials.as(tenant);
    String name = names.siloFunction(tenant);
    Optional<FunctionConfiguration> found = find(name, as);
    if (found.isEmpty()) {
      return changing("CreateFunction of " + name, () -> create(name, release, as));
    }
    FunctionConfiguration stands = found.get();
    if (stands.state() == State.FAILED) {
      throw new Unavailable("Lambda function " + name + ": failed: " + stands.stateReason());
    }
    if (stands.state() == State.PENDING
        || stands.lastUpdateStatus() == LastUpdateStatus.IN_PROGRESS) {
      return Progress.IN_PROGRESS;
    }
    if (release.value().equals(stands.description())
        && stands.lastUpdateStatus() != LastUpdateStatus.FAILED) {
      return Progress.DONE;
    }
    FunctionConfiguration version = version(release);
    return hasCodeOf(version, stands)
        ? changing("UpdateFunctionConfiguration of " + name, () -> configure(name, release, as))
        : changing("UpdateFunctionCode of " + name, () -> replaceCode(name, version, as));
  }

  /** Starts a change that comes to its end later, unless another is on its way. */
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
    return ask(
        "Lambda GetFunction of " + name,
        () -> {
          try {
            return Optional.of(
                lambda
                    .getFunction(request -> request.overrideConfiguration(as).functionName(name))
                    .configuration());
          } catch (ResourceNotFoundException none) {
            return Optional.empty();
          }
        });
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
                .loggingConfig(version.loggingConfig()));
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
                .loggingConfig(version.loggingConfig()));
  }

  private static Environment environment(FunctionConfiguration version) {
    return Environment.builder()
        .variables(
            Optional.ofNullable(version.environment())
                .map(environment -> environment.variables())
                .orElse(Map.of()))
        .build();
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
    EventSourceMappingConfiguration stands = found.get();
    return switch (stands.state()) {
      case "Enabled" ->
          isAsItShouldBe(stands)
              ? Progress.DONE
              : changing("UpdateEventSourceMapping of " + name, () -> remap(stands.uuid(), as));
      case "Disabled" ->
          changing("UpdateEventSourceMapping of " + name, () -> remap(stands.uuid(), as));
      default -> Progress.IN_PROGRESS;
    };
  }

  private static boolean isAsItShouldBe(EventSourceMappingConfiguration mapping) {
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
   * The mapping from the tenant's queue to its function; a list cannot be asked for by a tenant.
   */
  private Optional<EventSourceMappingConfiguration> mapping(TenantId tenant) {
    String name = names.siloFunction(tenant);
    return ask(
        "Lambda ListEventSourceMappings of " + name,
        () -> {
          try {
            return lambda
                .listEventSourceMappings(
                    request ->
                        request
                            .functionName(name)
                            .eventSourceArn(arns.queue(names.siloQueue(tenant))))
                .eventSourceMappings()
                .stream()
                .findFirst();
          } catch (ResourceNotFoundException none) {
            return Optional.empty();
          }
        });
  }

  /**
   * {@inheritDoc}
   *
   * <p>Done when Lambda has taken the order to delete the mapping: nothing can keep it then.
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
