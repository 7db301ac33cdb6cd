package dev.tollgate.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.apply.CurrentState;
import dev.tollgate.cli.apply.DryRun;
import dev.tollgate.cli.context.Context;
import dev.tollgate.cli.context.ContextFile;
import dev.tollgate.cli.context.Outputs;
import dev.tollgate.cli.context.Target;
import dev.tollgate.cli.history.CommandEnvironment;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Paths;
import dev.tollgate.cli.http.RequestSigner;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.http.Sender;
import dev.tollgate.cli.terminal.Progress;
import dev.tollgate.cli.terminal.Shell;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.UnaryOperator;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** The {@code tollgate} command: the options, output and APIs that all subcommands share. */
@Command(
    name = "tollgate",
    description = "Per-tenant admission control for WebSocket applications on AWS.",
    mixinStandardHelpOptions = true,
    versionProvider = Tollgate.Version.class,
    scope = ScopeType.INHERIT,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:success; nothing differs",
      "1:a request was rejected or failed, a change was not made, or an alarm is raised",
      "2:invalid command line or input file",
      "3:plan, diff, doctor or --dry-run found differences"
    })
final class Tollgate implements CommandEnvironment {
  @Option(
      names = "--context",
      paramLabel = "NAME",
      scope = ScopeType.INHERIT,
      order = 99,
      description =
          "Context of the deployment to use. Default: the environment variable TOLLGATE_CONTEXT, else"
              + " the context chosen with `tollgate context use`, else local.")
  private Optional<String> context = Optional.empty();

  @Option(
      names = "--outputs",
      paramLabel = "FILE",
      scope = ScopeType.INHERIT,
      order = 100,
      description =
          "Outputs file of the deployment to use, as written by `cdk deploy --outputs-file`. Takes"
              + " precedence over TOLLGATE_CONTEXT and `tollgate context use`.")
  private Optional<Path> outputs = Optional.empty();

  @Option(
      names = "--stack",
      paramLabel = "NAME",
      scope = ScopeType.INHERIT,
      order = 101,
      description = "Stack to use if the file given with --outputs contains several.")
  private Optional<String> stack = Optional.empty();

  @Option(
      names = "--region",
      paramLabel = "REGION",
      scope = ScopeType.INHERIT,
      order = 102,
      description =
          "AWS Region to sign requests for. Default: the context's Region, else the Region in the"
              + " API's host name, else AWS_REGION or the Region of the AWS profile.")
  private Optional<String> region = Optional.empty();

  @Option(
      names = "--profile",
      paramLabel = "NAME",
      scope = ScopeType.INHERIT,
      order = 103,
      description =
          "AWS profile to sign requests with. Default: the context's profile, else the AWS default"
              + " credentials chain.")
  private Optional<String> profile = Optional.empty();

  @Option(
      names = {"-o", "--format"},
      paramLabel = "FORMAT",
      scope = ScopeType.INHERIT,
      order = 104,
      converter = Format.Converter.class,
      description =
          "How to print: text; json, the API's JSON, with errors as JSON on standard error; yaml;"
              + " name, of lists; or csv, of histories. Default: ${DEFAULT-VALUE}.",
      defaultValue = "text")
  private Format format = Format.TEXT;

  @Option(
      names = "--json",
      scope = ScopeType.INHERIT,
      order = 105,
      description = "The same as -o json.")
  private boolean json;

  private final Shell shell;
  private Optional<Target> resolved = Optional.empty();
  private boolean warned;

  Tollgate(Shell shell) {
    this.shell = shell;
  }

  /** Prints a failure to standard error; returns the exit code. */
  int report(Exception exception) throws Exception {
    if (!(exception instanceof Failure failure)) {
      throw exception;
    }
    if (format() == Format.JSON) {
      shell.err().println(Json.write(failure.problem().document()));
    } else {
      List<String> lines = failure.problem().lines();
      shell.printError("tollgate: " + lines.get(0));
      lines.stream().skip(1).forEach(shell::printError);
    }
    shell.err().flush();
    return failure.exitCode();
  }

  /** How to print results. */
  Format format() {
    return json ? Format.JSON : format;
  }

  @Override
  public boolean isCsv() {
    return format() == Format.CSV;
  }

  /** Prints a response: as JSON the very body, which may have members that this program ignores. */
  @Override
  public void print(Response response, List<String> lines) {
    if (format() == Format.JSON) {
      printJson(response.body());
    } else {
      print(response.json(), lines);
    }
  }

  /** Prints a document in the user's format. */
  @Override
  public void print(JsonNode document, List<String> lines) {
    if (format() == Format.JSON) {
      printJson(Json.write(document));
    } else {
      shell.print(format().lines(document, lines));
    }
  }

  /** Prints a document as it is, whereas text for a person has no control characters. */
  private void printJson(String document) {
    shell.out().println(document);
    shell.out().flush();
  }

  /**
   * Returns a successful response.
   *
   * @param missing printed to a person if the status is 404: what does not exist, and what to do
   */
  @Override
  public Response found(Response response, String missing) {
    if (format().isForPeople() && response.status() == 404) {
      throw Failure.of(missing);
    }
    return response.orThrow();
  }

  /**
   * Prints what a request would change.
   *
   * @param name the tier or tenant
   * @return the exit code
   */
  int preview(
      String name, String method, String path, Optional<JsonNode> body, IfVersion ifVersion) {
    DryRun dryRun = DryRun.request(controlPlane(), name, method, path, body, ifVersion.headers());
    print(dryRun.document(), dryRun.lines());
    return dryRun.exitCode();
  }

  @Override
  public List<JsonNode> tenants(Sender api, SortedMap<String, String> filters) {
    List<JsonNode> tenants = CurrentState.tenants(api, filters);
    String tier = filters.get("tier");
    if (tenants.isEmpty() && tier != null) {
      found(api.get(Paths.tier(tier)), Tiers.missing(tier));
    }
    return tenants;
  }

  /**
   * Asks the user to confirm a change, and shows the deployment that the change is for. If the
   * deployment is marked as production, the user must type the name of its context.
   *
   * @param yes whether the user has confirmed in advance with {@code --yes}; against production
   *     this counts only together with {@code --context}
   * @param action the action, for the error where no question can be asked
   * @throws Failure if the user declines, or where no question can be asked: without a terminal, or
   *     with JSON output
   */
  void confirm(boolean yes, String question, String action) {
    confirm(yes, () -> {}, question, action);
  }

  /**
   * Asks the user as {@link #confirm(boolean, String, String)} does.
   *
   * @param check runs before the question; throws if the answer could not change anything
   */
  void confirm(boolean yes, Runnable check, String question, String action) {
    Target target = target();
    Optional<String> production = target.context().filter(name -> target.production());
    String options = "--yes" + production.map(name -> " with --context " + name).orElse("");
    if (!yes) {
      ask(check, target.description(), production, question, action, options);
    } else if (production.isEmpty() || production.equals(context)) {
      showTarget();
    } else {
      throw Failure.usage(
          "This deployment is marked as production: %s. To %s without confirmation, use %s."
              .formatted(target.description(), action, options));
    }
  }

  /**
   * Shows the deployment that a change is for, and asks the user to confirm the change if the
   * deployment is marked as production.
   *
   * @throws Failure as {@link #confirm} does
   */
  void confirmInProduction(boolean yes, String question, String action) {
    confirmInProduction(yes, () -> {}, question, action);
  }

  /**
   * Asks the user as {@link #confirmInProduction(boolean, String, String)} does.
   *
   * @param check runs before the question and before the change, but not if the command is refused
   */
  void confirmInProduction(boolean yes, Runnable check, String question, String action) {
    if (target().production() && !yes) {
      confirm(false, check, question, action);
      return;
    }
    if (target().production()) {
      confirm(true, question, action);
    } else {
      showTarget();
    }
    check.run();
  }

  /**
   * Asks the user to confirm that a context is forgotten, and with it the mark of production.
   *
   * @throws Failure as {@link #confirm} does
   */
  void confirmRemoval(boolean yes, Context removed) {
    if (removed.production() && !yes) {
      ask(
          () -> {},
          removed.description(),
          Optional.of(removed.name()),
          "Forget this context and that the deployment is production?",
          "remove context " + removed.name(),
          "--yes");
    }
  }

  private void ask(
      Runnable check,
      String target,
      Optional<String> production,
      String question,
      String action,
      String options) {
    Shell.Terminal someone =
        shell
            .terminal()
            .filter(terminal -> format().isForPeople())
            .orElseThrow(
                () ->
                    Failure.usage(
                        "Cannot ask for confirmation without a terminal. To %s without confirmation,"
                                .formatted(action)
                            + " use "
                            + options
                            + "."));
    check.run();
    String prompt =
        "Target: %s%n%s ".formatted(target, question)
            + production
                .map(name -> "Type the name of the context to confirm (" + name + "):")
                .orElse("[y/N]");
    String reply = someone.ask().apply(prompt).strip();
    if (!production.map(reply::equals).orElse(reply.equalsIgnoreCase("y"))) {
      throw Failure.of("Cancelled. Nothing was changed.");
    }
  }

  /** Shows the progress of a command to a person. */
  @Override
  public Progress progress() {
    return new Progress(shell, format().isForPeople());
  }

  /** Shows the target to a person. A program that reads JSON gets nothing but errors there. */
  private void showTarget() {
    if (format().isForPeople()) {
      shell.printError("Target: " + target().description());
    }
  }

  /**
   * The deployment that the command addresses. It is resolved once: somebody may choose another
   * context or overwrite the outputs file while the command runs or asks for confirmation.
   *
   * @throws Failure if there is none
   */
  @Override
  public synchronized Target target() {
    Target target = resolved.orElseGet(this::resolve);
    resolved = Optional.of(target);
    return target;
  }

  private Target resolve() {
    ContextFile contexts = contexts();
    if (outputs.isEmpty()) {
      Target named = contexts.target(context.or(this::contextOfEnvironment));
      stack
          .filter(name -> !name.equals(named.outputs().stack()))
          .ifPresent(
              name -> {
                throw Failure.usage(
                    "--stack: %s (expected: %s, the stack of the context, or --outputs as well)"
                        .formatted(name, named.outputs().stack()));
              });
      return named.signedFor(region, profile);
    }
    if (context.isPresent()) {
      throw Failure.usage(
          "--context: %s (expected: none, because --outputs is given)".formatted(context.get()));
    }
    return contexts.target(namedOutputs(outputs.get())).signedFor(region, profile);
  }

  /** The line about the target in the help of a command. */
  String targetForHelp() {
    try {
      return "Target: " + target().description();
    } catch (Failure none) {
      return "Target: none. " + none.reason();
    }
  }

  /** The Region of {@code --region}. */
  Optional<String> region() {
    return region;
  }

  /** The profile of {@code --profile}. */
  Optional<String> profile() {
    return profile;
  }

  /** The user's contexts. */
  ContextFile contexts() {
    return ContextFile.read(shell.configuration());
  }

  /** Changes the user's contexts. */
  ContextFile changeContexts(UnaryOperator<ContextFile> change) {
    return ContextFile.update(shell.configuration(), change);
  }

  /** The context that the environment variable names. */
  Optional<String> contextOfEnvironment() {
    return Optional.ofNullable(shell.environment().get("TOLLGATE_CONTEXT"))
        .filter(name -> !name.isBlank());
  }

  /**
   * A new context for the deployment that the command line names.
   *
   * @throws Failure if {@code --outputs} is missing or its file describes no deployment
   */
  Context newContext(String name, boolean production) {
    Path file =
        outputs.orElseThrow(
            () ->
                Failure.usage(
                    "--outputs is missing (expected: the file that `cdk deploy --outputs-file`"
                        + " wrote)"));
    return Context.of(name, namedOutputs(file), region, profile, production);
  }

  private Outputs namedOutputs(Path file) {
    return Outputs.read("--outputs", shell.file(file), stack);
  }

  /** The file that {@code tollgate up} writes the outputs of the local cloud to. */
  Path outputsToWrite() {
    return outputs
        .map(shell::file)
        .orElseGet(() -> shell.home().orElse(shell.directory()).resolve(Outputs.DEFAULT));
  }

  /** Whether {@code --outputs} names the file. */
  boolean namesOutputs() {
    return outputs.isPresent();
  }

  @Override
  public Api controlPlane() {
    return quietControlPlane().observedBy(this::warnIfLimitsAreLifted);
  }

  /** The control plane, for a command that itself shows whether all limits are lifted. */
  Api quietControlPlane() {
    Target target = target();
    return api(target, target.outputs().controlPlane());
  }

  private synchronized void warnIfLimitsAreLifted(Response response) {
    Optional<String> until = response.limitsLiftedUntil();
    if (until.isPresent() && !warned && format().isForPeople()) {
      warned = true;
      shell.printError("All limits are lifted until " + until.get() + ": tollgate admit-all");
    }
  }

  /** An API of the deployment. Its requests are signed if the deployment is on AWS. */
  private static Api api(Target target, URI uri) {
    return new Api(Api.client(), uri, RequestSigner.forApi(uri, target.region(), target.profile()));
  }

  /**
   * The session API. Requests are signed even if the API is open to everyone, because an open API
   * ignores signatures.
   *
   * @param token the tenant's token, sent instead of a signature
   */
  Api sessions(Optional<String> token) {
    Target target = target();
    URI uri = target.outputs().sessions();
    return token.map(it -> Api.withToken(Api.client(), uri, it)).orElseGet(() -> api(target, uri));
  }

  /** A duration in seconds with one decimal. */
  static String seconds(Duration time) {
    return String.format(Locale.ROOT, "%.1f s", time.toMillis() / 1000.0);
  }

  /** The version in the jar's manifest. */
  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      return new String[] {
        "tollgate "
            + Optional.ofNullable(Tollgate.class.getPackage().getImplementationVersion())
                .orElse("(not packaged)")
      };
    }
  }
}
