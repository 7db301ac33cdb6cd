package dev.tollgate.cli.command;

import dev.tollgate.cli.context.Context;
import dev.tollgate.cli.context.ContextFile;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.cli.terminal.Table;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The commands {@code tollgate context}. */
@Command(
    name = "context",
    description = {
      "Name deployments, and choose the one that commands address.",
      "A command addresses, in this order: the file of --outputs, the context of --context, the"
          + " context in the environment variable TOLLGATE_CONTEXT, the context chosen with `tollgate"
          + " context use`, and the context local, which `tollgate up` maintains.",
      "If a context is marked as production, commands that change the deployment ask for its name."
    })
final class Contexts {
  private final Tollgate tollgate;
  private final Shell shell;

  Contexts(Tollgate tollgate, Shell shell) {
    this.tollgate = tollgate;
    this.shell = shell;
  }

  @Command(
      name = "list",
      aliases = "ls",
      description = "List contexts. An asterisk marks the one in use.")
  int list() {
    ContextFile file = tollgate.contexts();
    Optional<String> environment = tollgate.contextOfEnvironment();
    Optional<String> inUse = environment.or(file::chosen);
    Table table = new Table("", "CONTEXT", "URL", "REGION", "PROFILE", "OUTPUTS", "");
    file.contexts()
        .values()
        .forEach(
            context ->
                table.row(
                    inUse.equals(Optional.of(context.name())) ? "*" : "",
                    context.name(),
                    context.url().toString(),
                    context.region().orElse(""),
                    context.profile().orElse(""),
                    shell.shown(context.outputs()).toString(),
                    context.production() ? "PRODUCTION" : ""));
    List<String> lines =
        new ArrayList<>(file.contexts().isEmpty() ? List.of("No contexts.") : table.lines());
    environment.ifPresent(
        name -> {
          lines.add("");
          lines.add("TOLLGATE_CONTEXT is set: " + name);
        });
    tollgate.print(file.document(), lines);
    return 0;
  }

  @Command(
      name = "add",
      description = "Name the deployment that --outputs, --stack, --region and --profile describe.")
  int add(
      @Parameters(paramLabel = "NAME", description = "The new context's name.") String name,
      @Option(
              names = "--production",
              description =
                  "Mark the deployment as production: commands that change it ask for the name of the"
                      + " context.")
          boolean production) {
    if (name.equals(Context.LOCAL)) {
      throw Failure.usage(
          "Context name: local (expected: another name; `tollgate up` maintains this context)");
    }
    Context context = tollgate.newContext(name, production);
    ContextFile changed = tollgate.changeContexts(file -> file.withNew(context));
    String added = "Added: " + changed.target(Optional.of(name)).description() + ".";
    tollgate.print(
        changed.document(), List.of(added, "To use it, run `tollgate context use " + name + "`."));
    return 0;
  }

  @Command(name = "use", description = "Choose the context that commands address.")
  int use(@Parameters(paramLabel = "NAME") String name) {
    ContextFile changed = tollgate.changeContexts(file -> file.using(file.named(name).name()));
    List<String> lines = new ArrayList<>();
    lines.add("Commands now address " + name + ".");
    tollgate
        .contextOfEnvironment()
        .filter(other -> !other.equals(name))
        .ifPresent(
            other -> lines.add("In this shell, TOLLGATE_CONTEXT takes precedence: " + other + "."));
    tollgate.print(changed.document(), lines);
    return 0;
  }

  @Command(
      name = "remove",
      description =
          "Forget a context. The deployment and its outputs file stay as they are. Asks for the name"
              + " if the context is marked as production.")
  int remove(@Parameters(paramLabel = "NAME") String name, @Mixin Confirmation confirmation) {
    ContextFile before = tollgate.contexts();
    Context removed = before.named(name);
    tollgate.confirmRemoval(confirmation.isGiven(), removed);
    ContextFile changed = tollgate.changeContexts(file -> file.without(removed));
    List<String> lines = new ArrayList<>();
    lines.add("Removed context " + name + ".");
    if (!changed.current().equals(before.current())) {
      lines.add(
          "It was in use. "
              + changed
                  .chosen()
                  .map(other -> "Commands now address " + other + ".")
                  .orElse("Choose another with `tollgate context use NAME`."));
    }
    tollgate.print(changed.document(), lines);
    return 0;
  }
}
