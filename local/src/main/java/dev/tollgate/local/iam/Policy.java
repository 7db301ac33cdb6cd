package dev.tollgate.local.iam;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.template.Properties;
import dev.tollgate.local.template.TemplateException;
import java.util.ArrayList;
import java.util.List;

/** A policy: statements that allow or deny. */
public record Policy(List<Statement> statements) {
  /** The version of the policy language that has variables. */
  private static final String VERSION = "2012-10-17";

  /** Neither allows nor denies anything. */
  public static final Policy NONE = new Policy(List.of());

  /** Allows everything, as the managed policy {@code AdministratorAccess} does. */
  static final Policy ADMINISTRATOR =
      new Policy(
          List.of(
              new Statement(
                  true, List.of(), List.of(new Glob("*")), List.of(new Glob("*")), List.of())));

  /**
   * Reads the policy document in a property.
   *
   * @throws TemplateException if it is absent or has an element that is not supported
   */
  public static Policy of(Properties properties, String name) {
    return of(
        properties.json(name).orElseThrow(() -> properties.error(name, "absent")),
        properties.place() + "." + name);
  }

  /**
   * Reads a policy document.
   *
   * @param place its place in the template, for errors
   * @throws TemplateException if it has an element that is not supported
   */
  public static Policy of(JsonNode document, String place) {
    if (!document.path("Version").asText().equals(VERSION)) {
      throw new TemplateException(
          place, "Version: " + document.path("Version") + " (expected: " + VERSION + ")");
    }
    return ofStatements(document.path("Statement"), place);
  }

  /**
   * Reads one statement or a list of statements.
   *
   * @throws TemplateException if a statement has an element that is not supported
   */
  public static Policy ofStatements(JsonNode all, String place) {
    List<Statement> statements = new ArrayList<>();
    for (JsonNode one : all.isArray() ? all : Json.array().add(all)) {
      statements.add(Statement.of(one, place));
    }
    return new Policy(List.copyOf(statements));
  }

  /** The statements that apply to a caller. */
  List<Statement> statementsFor(String caller) {
    return statements.stream().filter(statement -> statement.appliesTo(caller)).toList();
  }

  /** Whether a statement allows an access and none denies it. */
  public boolean allows(Access access) {
    return Statement.match(true, statements, access).isPresent()
        && Statement.match(false, statements, access).isEmpty();
  }
}
