package dev.tollgate.cli.command;

import dev.tollgate.cli.context.Outputs;
import dev.tollgate.cli.terminal.Shell;
import dev.tollgate.cli.terminal.Table;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The message that {@code tollgate up} prints once the local cloud is ready.
 *
 * @param log the file that the functions log to
 * @param claims the file with the environment of programs that claim tokens, if there is one
 * @param data the directory that keeps the cloud's tables and queues; empty if they are in memory
 * @param options the options that commands need to address this cloud; may be blank
 */
record Welcome(
    Outputs outputs, Path log, Optional<Path> claims, Optional<Path> data, String options) {
  List<String> lines(Shell shell, Duration startTime) {
    Table addresses = new Table("", "");
    outputs.values().entrySet().stream()
        .filter(output -> !output.getKey().startsWith("Application"))
        .filter(output -> !output.getKey().equals(Alarms.PREFIX))
        .filter(output -> !output.getValue().contains("\n"))
        .sorted(Map.Entry.comparingByKey())
        .forEach(output -> addresses.row(output.getKey(), output.getValue()));
    List<String> lines = new ArrayList<>();
    lines.add("Tollgate is up after " + Tollgate.seconds(startTime) + ". Press Ctrl-C to stop it.");
    lines.add("");
    lines.addAll(addresses.lines());
    lines.add("");
    lines.add("Addresses: " + shell.shown(outputs.file()));
    lines.add("Log of the functions: " + shell.shown(log));
    claims.ifPresent(
        file -> lines.add("Environment for programs that claim tokens: " + shell.shown(file)));
    lines.add(
        data.map(directory -> "Tables and queues are kept in " + shell.shown(directory) + ".")
            .orElse("Tables and queues are in memory; --data DIR keeps them."));
    lines.add("Try these commands in another terminal:");
    lines.add("");
    for (String command :
        List.of(
            "tenants onboard acme --tier gold --set tenantPerMinute=5",
            outputs.hasSessions() ? "connect acme --sockets 7 --retry" : "tenants show acme",
            "tenants list")) {
      lines.add(("  ./tollgate " + command + " " + options).stripTrailing());
    }
    return lines;
  }
}
