package dev.tollgate.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Answer;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.RequestSigner;
import dev.tollgate.cli.terminal.Shell;
import java.io.Console;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import me.tongfei.progressbar.ConsoleProgressBarConsumer;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;
import picocli.CommandLine.TypeConversionException;

/** The {@code tollgate} command, its options for all subcommands, and what these share. */
@Command(
    name = "tollgate",
    description = "Per-tenant admission control for WebSocket applications on AWS.",
    mixinStandardHelpOptions = true,
    versionProvider = Tollgate.Version.class,
    scope = ScopeType.INHERIT,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:done",
      "1:the request was refused or failed",
      "2:the command was not understood",
      "3:a dry run or diff: something would change"
    })
public final class Tollgate {
  /** What picocli says where an equals sign is missing. */
  private static final Pattern NOT_A_PAIR =
      Pattern.compile(
          "Value for option (.+) \\((.+)\\) should be in KEY=VALUE format but was (.*)");

  @Option(
      names = "--outputs",
      paramLabel = "FILE",
      scope = ScopeType.INHERIT,
      order = 100,
      description =
          "Outputs of the deployment to speak to, as `cdk deploy --outputs-file` writes them."
              + " Default: .tollgate/outputs.json, found upwards from the current directory.")
  private Optional<Path> outputs = Optional.empty();

  @Option(
      names = "--stack",
      paramLabel = "NAME",
      scope = ScopeType.INHERIT,
      order = 101,
      description = "The stack, if the outputs are those of several.")
  private Optional<String> stack = Optional.empty();

  @Option(
      names = "--region",
      paramLabel = "REGION",
      scope = ScopeType.INHERIT,
      order = 102,
      description = "Region to sign requests for. Default: the one in the API's host name.")
  private Optional<String> region = Optional.empty();

  @Option(
      names = "--profile",
      paramLabel = "NAME",
      scope = ScopeType.INHERIT,
      order = 103,
      description = "AWS profile to sign requests with. Default: the AWS default chain.")
  private Optional<String> profile = Optional.empty();

  @Option(
      names = "--json",
      scope = ScopeType.INHERIT,
      order = 104,
      description = "Print the API's JSON; problems as JSON to standard error.")
  private boolean json;

  private final Shell shell;

  private Tollgate(Shell shell) {
    this.shell = shell;
  }

  /**
   * Runs one command line and ends the JVM with its exit code.
   *
   * @param arguments the subcommand with its options
   */
  public static void main(String... arguments) {
    // From Java 22 on there is a console even where there is no terminal, unless this is said.
    System.setProperty("jdk.console", "java.base");
    PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    Shell shell =
        new Shell(
            System.in,
            out,
            new PrintWriter(System.err, true, StandardCharsets.UTF_8),
            Path.of("").toAbsolutePath(),
            Optional.ofNullable(System.getProperty("tollgate.home")).map(Path::of),
            Optional.ofNullable(System.console()).map(Tollgate::terminal),
            System::nanoTime,
            time -> Thread.sleep(time.toMillis()));
    System.exit(commandLine(shell, LocalStack::start).execute(arguments));
  }

  private static Shell.Terminal terminal(Console console) {
    return new Shell.Terminal(asks(console), () -> new ConsoleProgressBarConsumer(System.err));
  }

  private static Predicate<String> asks(Console console) {
    return question ->
        "y"
            .equalsIgnoreCase(
                Optional.ofNullable(console.readLine("%s [y/N] ", question)).orElse(""));
  }

  /** The command with its subcommands, run in the given surroundings. */
  public static CommandLine commandLine(Shell shell, Cloud.Starter starter) {
    Tollgate tollgate = new Tollgate(shell);
    CommandLine command = new CommandLine(tollgate);
    IParameterExceptionHandler usual = command.getParameterExceptionHandler();
    return command
        .addSubcommand(new Up(tollgate, shell, starter))
        .addSubcommand(
            new CommandLine(new Tenants(tollgate, shell))
                .addSubcommand(new Import(tollgate, shell)))
        .addSubcommand(new Tiers(tollgate, shell))
        .addSubcommand(new Plan(tollgate, shell))
        .addSubcommand(new Apply(tollgate, shell))
        .addSubcommand(new Doctor(tollgate, shell))
        .addSubcommand(new Connect(tollgate, shell))
        .setOut(shell.out())
        .setErr(shell.err())
        .setUsageHelpAutoWidth(true)
        .registerConverter(int.class, text -> number(text, Integer::valueOf))
        .registerConverter(long.class, text -> number(text, Long::valueOf))
        .registerConverter(Long.class, text -> number(text, Long::valueOf))
        .setParameterExceptionHandler(
            (refused, arguments) -> usual.handleParseException(plainly(refused), arguments))
        .setExecutionExceptionHandler((failure, which, result) -> tollgate.say(failure));
  }

  private static <N extends Number> N number(String text, Function<String, N> parse) {
    try {
      return parse.apply(text);
    } catch (NumberFormatException e) {
      throw new TypeConversionException(text + " (expected: a whole number)");
    }
  }

  /** What was refused, in the words that are used for every other value. */
  private static ParameterException plainly(ParameterException refused) {
    Matcher notAPair = NOT_A_PAIR.matcher(refused.getMessage());
    return notAPair.matches()
        ? new ParameterException(
            refused.getCommandLine(),
            notAPair.replaceFirst("Invalid value for $1 ($2): $3 (expected: $2)"))
        : refused;
  }

  private int say(Exception exception) throws Exception {
    if (!(exception instanceof Failure failure)) {
      throw exception;
    }
    if (json) {
      shell.err().println(Json.write(failure.problem().document()));
    } else {
      List<String> lines = failure.problem().lines();
      shell.complain("tollgate: " + lines.get(0));
      lines.stream().skip(1).forEach(shell::complain);
    }
    shell.err().flush();
    return failure.exitCode();
  }

  /** Whether programs read what is printed. */
  boolean printsJson() {
    return json;
  }

  /** Prints an answer: the API's JSON when that is asked for, else the lines for a person. */
  void print(Answer answer, List<String> lines) {
    if (json) {
      shell.out().println(answer.body());
    } else {
      shell.print(lines);
    }
    shell.out().flush();
  }

  /** Prints a document made of several answers, or the lines for a person. */
  void print(JsonNode document, List<String> lines) {
    if (json) {
      shell.out().println(Json.write(document));
    } else {
      shell.print(lines);
    }
    shell.out().flush();
  }

  Outputs outputs() {
    return Outputs.read(outputs.map(shell::file).orElseGet(() -> Outputs.find(shell)), stack);
  }

  /** Where the outputs of a local cloud go. */
  Path outputsToWrite() {
    return outputs
        .map(shell::file)
        .orElseGet(() -> shell.home().orElse(shell.directory()).resolve(Outputs.DEFAULT));
  }

  Api controlPlane() {
    return api(outputs().uri("ControlPlaneURL"));
  }

  /** An API of the deployment, called with signatures if API Gateway's host is in its address. */
  Api api(URI uri) {
    return new Api(Api.client(), uri, RequestSigner.forApi(uri, region, profile));
  }

  /**
   * The session API. Where it is open to all, a signature does no harm.
   *
   * @param token shown instead of a signature, where sessions take one
   */
  Api sessions(Optional<String> token) {
    URI uri = outputs().uri("SessionURL");
    return token.map(it -> Api.withToken(Api.client(), uri, it)).orElseGet(() -> api(uri));
  }

  /** How long something took, to a tenth of a second. */
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
