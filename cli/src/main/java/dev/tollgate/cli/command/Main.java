package dev.tollgate.cli.command;

import dev.tollgate.cli.audit.AuditCommand;
import dev.tollgate.cli.history.CostCommand;
import dev.tollgate.cli.history.HistoryCommand;
import dev.tollgate.cli.history.ReplayCommand;
import dev.tollgate.cli.history.Span;
import dev.tollgate.cli.history.TopCommand;
import dev.tollgate.cli.history.UsageCommand;
import dev.tollgate.cli.local.Accounts;
import dev.tollgate.cli.local.Cloud;
import dev.tollgate.cli.local.InProcessCloud;
import dev.tollgate.cli.logs.LogsCommand;
import dev.tollgate.cli.prove.ProveCommand;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.cli.trace.TraceCommand;
import java.io.Console;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.format.DateTimeParseException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.IHelpSectionRenderer;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.UsageMessageSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.TypeConversionException;
import picocli.CommandLine.UnmatchedArgumentException;

/** The entry point of the command line. */
public final class Main {
  /** Matches picocli's message for a value without an equals sign. */
  private static final Pattern NOT_A_PAIR =
      Pattern.compile(
          "Value for option (.+) \\((.+)\\) should be in KEY=VALUE format but was (.*)");

  private static final Set<String> VERSION = Set.of("--version", "-V");

  /** A word with more differences than this is another word. */
  private static final int MOST_EDITS = 2;

  /** Commands that print a list. */
  private static final Set<String> LISTS = Set.of("list", "alarms");

  /** Commands that print counts. */
  private static final Set<String> COUNTS = Set.of("history", "top", "usage", "replay", "cost");

  /** Commands about other commands. */
  private static final Set<String> NEEDS_ALL = Set.of("help", "completion");

  private Main() {}

  /**
   * Runs one command and ends the JVM with its exit code.
   *
   * @param arguments the subcommand with its options
   */
  public static void main(String... arguments) {
    // From Java 22 on, System.console() is never null unless this property is set.
    System.setProperty("jdk.console", "java.base");
    PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    Shell shell =
        new Shell(
            System.in,
            out,
            new PrintWriter(System.err, true, StandardCharsets.UTF_8),
            Path.of("").toAbsolutePath(),
            Optional.ofNullable(System.getProperty("tollgate.home")).map(Path::of),
            System.getenv(),
            Optional.ofNullable(System.console()).map(Main::terminal),
            System::nanoTime,
            time -> Thread.sleep(time.toMillis()));
    System.exit(commandLine(shell, InProcessCloud::start, arguments).execute(arguments));
  }

  private static Shell.Terminal terminal(Console console) {
    return new Shell.Terminal(
        prompt -> Optional.ofNullable(console.readLine("%s ", prompt)).orElse(""));
  }

  /**
   * The command with the subcommand that these arguments begin with, or with all subcommands. The
   * model of all of them takes most of the time of a short command.
   *
   * @param starter starts the local cloud for {@code tollgate up}
   */
  public static CommandLine commandLine(Shell shell, Cloud.Starter starter, String... arguments) {
    Tollgate tollgate = new Tollgate(shell);
    CommandLine command = new CommandLine(tollgate);
    Map<String, Supplier<Object>> subcommands = subcommands(tollgate, shell, starter);
    Optional.of(arguments)
        .filter(given -> given.length > 0 && !NEEDS_ALL.contains(given[0]))
        .map(given -> subcommands.get(VERSION.contains(given[0]) ? "version" : given[0]))
        .map(List::of)
        .orElseGet(() -> List.copyOf(subcommands.values()))
        .forEach(subcommand -> command.addSubcommand(subcommand.get()));
    command
        .setOut(shell.out())
        .setErr(shell.err())
        .setUsageHelpAutoWidth(true)
        .setCaseInsensitiveEnumValuesAllowed(true)
        .registerConverter(Duration.class, Main::duration)
        .registerConverter(Instant.class, Main::instant)
        .registerConverter(int.class, text -> number(text, Integer::valueOf))
        .registerConverter(long.class, text -> number(text, Long::valueOf))
        .registerConverter(Long.class, text -> number(text, Long::valueOf))
        .setParameterExceptionHandler((invalid, given) -> report(reworded(invalid), given))
        .setExecutionStrategy(parsed -> run(parsed, tollgate))
        .setExecutionExceptionHandler((failure, which, result) -> tollgate.report(failure));
    Map<String, IHelpSectionRenderer> sections = new HashMap<>(command.getHelpSectionMap());
    sections.put(UsageMessageSpec.SECTION_KEY_FOOTER, help -> target(help, tollgate));
    return command.setHelpSectionMap(sections);
  }

  /** The subcommands by name, in the order of the help. */
  private static Map<String, Supplier<Object>> subcommands(
      Tollgate tollgate, Shell shell, Cloud.Starter starter) {
    Map<String, Supplier<Object>> subcommands = new LinkedHashMap<>();
    subcommands.put("up", () -> new Up(tollgate, shell, starter));
    subcommands.put("context", () -> new Contexts(tollgate, shell));
    subcommands.put(
        "tenants",
        () ->
            new CommandLine(new Tenants(tollgate, shell))
                .addSubcommand(new Import(tollgate, shell)));
    subcommands.put("tiers", () -> new Tiers(tollgate, shell));
    subcommands.put("plan", () -> new Plan(tollgate, shell));
    subcommands.put("apply", () -> new Apply(tollgate, shell));
    subcommands.put("alarms", () -> new Alarms(tollgate));
    subcommands.put("logs", () -> new LogsCommand(tollgate, shell, InstantSource.system()));
    subcommands.put("trace", () -> new TraceCommand(tollgate, InstantSource.system()));
    subcommands.put("audit", () -> new AuditCommand(tollgate, shell, InstantSource.system()));
    subcommands.put("admit-all", () -> new AdmitAll(tollgate));
    subcommands.put("doctor", () -> new Doctor(tollgate, shell));
    subcommands.put("history", () -> new HistoryCommand(tollgate, shell));
    subcommands.put("top", () -> new TopCommand(tollgate));
    subcommands.put("replay", () -> new ReplayCommand(tollgate, shell));
    subcommands.put("cost", () -> new CostCommand(tollgate, shell));
    subcommands.put("usage", () -> new UsageCommand(tollgate, shell));
    subcommands.put("connect", () -> new Connect(tollgate, shell));
    subcommands.put("verify", () -> new Verify(tollgate, shell));
    subcommands.put(
        "prove",
        () ->
            new ProveCommand(
                tollgate,
                shell,
                new Accounts(shell, starter, tollgate::region, tollgate::profile),
                InstantSource.system()));
    subcommands.put("completion", () -> new Completion(shell));
    subcommands.put("version", VersionCommand::new);
    subcommands.put("help", HelpCommand::new);
    return subcommands;
  }

  /** The last line of a command's help: the deployment that the command would address. */
  private static String target(Help help, Tollgate tollgate) {
    return help.commandSpec().userObject() instanceof Up
        ? ""
        : "%n%s%n".formatted(tollgate.targetForHelp());
  }

  /**
   * Parses the value of an option or parameter. Whole numbers are refused below 0, except ints,
   * which have ranges of their own.
   */
  private static <N extends Number> N number(String text, Function<String, N> parse) {
    try {
      N value = parse.apply(text);
      if (value instanceof Integer || value.longValue() >= 0) {
        return value;
      }
    } catch (NumberFormatException e) {
      // The same message.
    }
    throw new TypeConversionException(text + " (expected: a whole number, 0 or more)");
  }

  private static Duration duration(String text) {
    try {
      return Span.duration(text);
    } catch (IllegalArgumentException malformed) {
      throw new TypeConversionException(malformed.getMessage());
    }
  }

  private static Instant instant(String text) {
    try {
      return Instant.parse(text);
    } catch (DateTimeParseException malformed) {
      throw new TypeConversionException(
          text + " (expected: an instant such as 2026-03-12T14:00:00Z)");
    }
  }

  /**
   * Prints the error and the command whose help explains the arguments; without any arguments, the
   * usage. Returns the exit code.
   */
  private static int report(ParameterException invalid, String[] given) {
    CommandLine command = invalid.getCommandLine();
    if (given.length == 0) {
      command.usage(command.getErr());
      return command.getCommandSpec().exitCodeOnInvalidInput();
    }
    command.getErr().println("tollgate: " + invalid.getMessage());
    command.getErr().println("See `" + command.getCommandSpec().qualifiedName() + " --help`.");
    return command.getCommandSpec().exitCodeOnInvalidInput();
  }

  /** Runs the command. Picocli prints the help of the last command that it knows instead. */
  private static int run(ParseResult parsed, Tollgate tollgate) {
    ParseResult last = parsed;
    while (last.hasSubcommand()) {
      last = last.subcommand();
    }
    if (!last.unmatched().isEmpty()) {
      throw new UnmatchedArgumentException(last.commandSpec().commandLine(), last.unmatched());
    }
    if (tollgate.format() == Format.NAME && !LISTS.contains(last.commandSpec().name())) {
      throw new ParameterException(
          last.commandSpec().commandLine(),
          "-o name: only `alarms` and the commands `list` print names (expected: text, json or yaml)");
    }
    if (tollgate.isCsv() && !COUNTS.contains(last.commandSpec().name())) {
      throw new ParameterException(
          last.commandSpec().commandLine(),
          "-o csv: only `history`, `top`, `usage`, `replay` and `cost` print CSV (expected: text, json or yaml)");
    }
    return new RunLast().execute(parsed);
  }

  /**
   * Rewords picocli's messages for unknown commands, options and a missing equals sign. A missing
   * argument is often an option that was misspelt: the message names that option instead.
   */
  private static ParameterException reworded(ParameterException invalid) {
    if (invalid instanceof MissingParameterException) {
      CommandLine command = invalid.getCommandLine();
      List<String> options =
          command.getUnmatchedArguments().stream().filter(name -> name.startsWith("-")).toList();
      if (!options.isEmpty()) {
        return reworded(new UnmatchedArgumentException(command, options));
      }
    }
    if (invalid instanceof UnmatchedArgumentException unmatched) {
      return new ParameterException(invalid.getCommandLine(), unknown(unmatched));
    }
    Matcher notAPair = NOT_A_PAIR.matcher(invalid.getMessage());
    return notAPair.matches()
        ? new ParameterException(
            invalid.getCommandLine(),
            notAPair.replaceFirst("Invalid value for $1 ($2): $3 (expected: $2)"))
        : invalid;
  }

  private static boolean isAlias(CommandLine command, String name) {
    CommandLine subcommand = command.getSubcommands().get(name);
    return subcommand != null && !subcommand.getCommandName().equals(name);
  }

  /** The options that are spelled like this name, the likest first. */
  private static Stream<String> nearest(CommandLine command, String name) {
    String spelled = name.replaceFirst("=.*", "");
    return command.getCommandSpec().optionsMap().keySet().stream()
        .filter(option -> option.startsWith("--") && edits(spelled, option) <= MOST_EDITS)
        .sorted(Comparator.comparingInt(option -> edits(spelled, option)));
  }

  /** How many letters to insert, remove or replace to turn one word into the other. */
  private static int edits(String from, String to) {
    int[] row = IntStream.rangeClosed(0, to.length()).toArray();
    for (int i = 1; i <= from.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= to.length(); j++) {
        int replaced = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
      }
    }
    return row[to.length()];
  }

  /** Names what is unknown, and what has a name like it and the same first letter. */
  private static String unknown(UnmatchedArgumentException unmatched) {
    CommandLine command = unmatched.getCommandLine();
    String name = unmatched.getUnmatched().get(0);
    String message = "Unexpected argument: " + name;
    if (name.startsWith("-")) {
      message = "Unknown option: " + name;
    } else if (!command.getSubcommands().isEmpty()) {
      message =
          "No command named `%s %s`".formatted(command.getCommandSpec().qualifiedName(), name);
    }
    int letter = name.startsWith("--") ? 3 : 1;
    return Stream.concat(nearest(command, name), unmatched.getSuggestions().stream())
        .map(suggestion -> suggestion.substring(suggestion.lastIndexOf(' ') + 1))
        .filter(suggestion -> suggestion.regionMatches(0, name, 0, Math.min(letter, name.length())))
        .filter(suggestion -> !isAlias(command, suggestion))
        .findFirst()
        .map(suggestion -> ". Did you mean `" + suggestion + "`?")
        .map(message::concat)
        .orElse(message);
  }
}
