package dev.tollgate.infra;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import software.amazon.awscdk.services.eventschemas.CfnRegistry;
import software.amazon.awscdk.services.eventschemas.CfnSchema;
import software.constructs.Construct;

/** A registry of EventBridge with the schema of the events, for code generators and the console. */
final class EventSchemas extends Construct {
  private static final String CHANGE = "change.json";

  EventSchemas(Construct scope, String prefix) {
    super(scope, "EventSchemas");
    String name = prefix + "tollgate";
    CfnRegistry registry =
        CfnRegistry.Builder.create(this, "Registry")
            .registryName(name)
            .description("Events of Tollgate.")
            .build();
    CfnSchema.Builder.create(this, "Change")
        .registryName(name)
        .schemaName("Change")
        .type("JSONSchemaDraft4")
        .description("Detail of an event with the source tollgate.")
        .content(change())
        .build()
        .getNode()
        .addDependency(registry);
  }

  private static String change() {
    try (InputStream schema =
        Objects.requireNonNull(EventSchemas.class.getResourceAsStream("/" + CHANGE), CHANGE)) {
      return new String(schema.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
