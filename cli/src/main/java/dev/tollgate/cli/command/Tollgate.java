package dev.tollgate.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.RequestSigner;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.terminal.Shell;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
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
      "0:success",
      "1:a request was rejected or failed",
      "2:invalid command line or input file",
      "3:a dry run or diff found changes"
    })
final class Tollgate {
  @Option(
      names = "--outputs",
      paramLabel = "FILE",
      scope = ScopeType.INHERIT,
      order = 100,
      description =
          "Outputs file of the deployment to use, as written by `cdk deploy --outputs-file`."
              + " Default: .tollgate/outputs.json in the current directory or a parent.")
  private Optional<Path> outputs = Optional.empty();

  @Option(
      names = "--stack",
      paramLabel = "NAME",
      scope = ScopeType.INHERIT,
      order = 101,
      description = "Stack to use if the outputs file contains several.")
  private Optional<String> stack = Optional.empty();

  @Option(
      names = "--region",
      paramLabel = "REGION",
      scope = ScopeType.INHERIT,
      order = 102,
      description = "AWS Region to sign requests for. Default: the Region in the API's host name.")
  private Optional<String> region = Optional.empty();

  @Option(
      names = "--profile",
      paramLabel = "NAME",
      scope = ScopeType.INHERIT,
      order = 103,
      description =
          "AWS profile to sign requests with. Default: the AWS default credentials chain.")
  private Optional<String> profile = Optional.empty();

  @Option(
      names = "--json",
      scope = ScopeType.INHERIT,
      order = 104,
      description = "Print the API's JSON; print errors as JSON to standard error.")
  private boolean json;

  private final Shell shell;

  Tollgate(Shell shell) {
    this.shell = shell;
  }

  /** Prints a failure to standard error; returns the exit code. */
  int report(Exception exception) throws Exception {
    if (!(exception instanceof Failure failure)) {
      throw exception;
    }
    if (json) {
      shell.err().println(Json.write(failure.problem().document()));
    } else {
      List<String> lines = failure.problem().lines();
      shell.printError("tollgate: " + lines.get(0));
      lines.stream().skip(1).forEach(shell::printError);
    }
    shell.err().flush();
    return failure.exitCode();
  }

  /** Whether the user asked for JSON. */
  boolean printsJson() {
    return json;
  }

  /** Prints a response: its JSON with {@code --json}, else the lines. */
  void print(Response response, List<String> lines) {
    if (json) {
      shell.out().println(response.body());
    } else {
      shell.print(lines);
    }
    shell.out().flush();
  }

  /** Prints a document with {@code --json}, else the lines. */
  void print(JsonNode document, List<String> lines) {
    if (json) {
      shell.out().println(Json.write(document));
    } else {
      shell.print(lines);
    }
    shell.out().flush();
  }

  /**
   * Returns a successful response.
   *
   * @param missing printed to a person if the status is 404: what does not exist, and what to do
   */
  Response found(Response response, String missing) {
    if (!json && response.status() == 404) {
      throw Failure.of(missing);
    }
    return response.orThrow();
  }

  /**
   * Asks the user to confirm a change.
   *
   * @param action the action that {@code --yes} confirms, for the error without a terminal
   * @throws Failure if the user declines, or if nobody can be asked: there is no terminal, or the
   *     output must be JSON
   */
  void confirm(String question, String action) {
    Shell.Terminal someone =
        shell
            .terminal()
            .filter(terminal -> !json)
            .orElseThrow(
                () ->
                    Failure.usage(
                        "Cannot ask for confirmation without a terminal. To "
                            + action
                            + " without confirmation, use --yes."));
    if (!someone.confirm().test(question)) {
      throw Failure.of("Cancelled. Nothing was changed.");
    }
  }

  Outputs outputs() {
    return Outputs.read(outputs.map(shell::file).orElseGet(() -> Outputs.find(shell)), stack);
  }

  /** The file that {@code tollgate up} writes the outputs of the local cloud to. */
  Path outputsToWrite() {
    return outputs
        .map(shell::file)
        .orElseGet(() -> shell.home().orElse(shell.directory()).resolve(Outputs.DEFAULT));
  }

  Api controlPlane() {
    return api(outputs().uri("ControlPlaneURL"));
  }

  /** An API of the deployment. Its requests are signed if its host belongs to API Gateway. */
  Api api(URI uri) {
    return new Api(Api.client(), uri, RequestSigner.forApi(uri, region, profile));
  }

  /**
   * The session API. Requests are signed even if the API is open to everyone, because an open API
   * ignores signatures.
   *
   * @param token the tenant's token, sent instead of a signature
   */
  Api sessions(Optional<String> token) {
    URI uri = outputs().uri("SessionURL");
    return token.map(it -> Api.withToken(Api.client(), uri, it)).orElseGet(() -> api(uri));
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
