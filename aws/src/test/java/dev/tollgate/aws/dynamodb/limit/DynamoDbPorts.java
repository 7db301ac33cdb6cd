package dev.tollgate.aws.dynamodb.limit;

import dev.tollgate.aws.Engines;
import dev.tollgate.aws.dynamodb.tenant.DynamoDbTenants;
import dev.tollgate.core.audit.Author;
import java.time.InstantSource;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** The adapters over the tables of DynamoDB Local. */
public final class DynamoDbPorts {
  private final DynamoDbClient client;
  private final DynamoDbFactsReader.Tables tables;
  private final SessionTables sessionTables;

  /** Adapters over new tables. */
  DynamoDbPorts(Engines.Tables engine) {
    this(engine, engine.client());
  }

  /** Adapters over new tables, with this client. */
  public DynamoDbPorts(Engines.Tables engine, DynamoDbClient client) {
    this.client = client;
    this.tables = new DynamoDbFactsReader.Tables(engine.tenant(), engine.session(), engine.limit());
    this.sessionTables =
        new SessionTables(client, client, tables.session(), tables.limit(), Engines.ANYBODY);
  }

  /** The names of the tables. */
  public DynamoDbFactsReader.Tables tables() {
    return tables;
  }

  /** A new reader, with an empty cache. */
  public DynamoDbFactsReader facts(InstantSource clock) {
    return new DynamoDbFactsReader(client, tables, Engines.ANYBODY, clock);
  }

  DynamoDbTenants tenants() {
    return new DynamoDbTenants(client, tables.tenant(), () -> Author.UNKNOWN);
  }

  DynamoDbBuckets buckets() {
    return new DynamoDbBuckets(client, tables.limit(), Engines.ANYBODY);
  }

  /** The sessions. */
  public DynamoDbSessions sessions() {
    return new DynamoDbSessions(sessionTables);
  }

  /** The connections. */
  public DynamoDbConnections connections() {
    return new DynamoDbConnections(sessionTables);
  }

  DynamoDbLiveTenants liveTenants() {
    return new DynamoDbLiveTenants(sessionTables);
  }

  DynamoDbMessageLog messageLog() {
    return new DynamoDbMessageLog(client, tables.limit(), Engines.ANYBODY);
  }

  DynamoDbActivity activity() {
    return new DynamoDbActivity(client, client, tables.limit(), Engines.ANYBODY);
  }

  DynamoDbSilos silos() {
    return new DynamoDbSilos(client, tables.limit(), Engines.ANYBODY);
  }
}
