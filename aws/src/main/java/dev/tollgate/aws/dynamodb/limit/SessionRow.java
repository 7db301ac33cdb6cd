package dev.tollgate.aws.dynamodb.limit;

import static dev.tollgate.aws.dynamodb.Attribute.nanos;
import static dev.tollgate.aws.dynamodb.Attribute.number;
import static dev.tollgate.aws.dynamodb.Attribute.text;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.session.Lifetime;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Subject;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * Reads and writes sessions as rows of the Session table, and names the rows of subjects there. A
 * session's end is in seconds, since DynamoDB uses it as the time to live. A session without
 * connections has no set of connections, because DynamoDB stores no empty set.
 */
final class SessionRow {
  static final String TENANT = "tenantId";
  static final String ID = "sessionId";
  static final String CONNECTION_IDS = "connectionIds";
  static final String ENDS_AT = "sessionTTL";
  static final String ARRIVAL = "arrival";
  static final String MESSAGE_AT = "messageAt";
  static final String CREATED_AT = "createdAt";
  static final String TOKEN_ENDS_AT = "tokenEndsAt";

  /**
   * The prefix of the attributes that hold when each connection joined. The connection's id follows
   * it.
   */
  private static final String JOINED = "joined:";

  /** A map from names of processed messages to the second at which each entry expires. */
  static final String PROCESSED = "processed";

  /** The session's place in line, a map. */
  static final String PLACE = "place";

  /** Whether the session certainly took its place; missing in rows of older versions. */
  static final String PLACE_TAKEN = "placeTaken";

  /** The id of the write that stored the place last. */
  static final String PLACE_WRITE = "placeWrite";

  /** The prefix of the sort keys of subjects. They sort after the ids of sessions. */
  static final String SUBJECT_PREFIX = "subject:";

  /** The ids of a subject's sessions, a set of strings. */
  static final String SESSION_IDS = "sessionIds";

  private SessionRow() {}

  /** The key of a session. */
  static Map<String, AttributeValue> key(TenantId tenant, SessionId id) {
    return Map.of(TENANT, text(tenant.value()), ID, text(id.value()));
  }

  /** The key of a subject's sessions. */
  static Map<String, AttributeValue> key(TenantId tenant, Subject subject) {
    return Map.of(TENANT, text(tenant.value()), ID, text(SUBJECT_PREFIX + subject.pseudonym()));
  }

  static Map<String, AttributeValue> write(Session session) {
    Map<String, AttributeValue> row = Row.withSchema(key(session.tenant(), session.id()));
    if (!session.connections().isEmpty()) {
      row.put(CONNECTION_IDS, AttributeValue.fromSs(List.copyOf(session.connections())));
    }
    row.put(ENDS_AT, number(session.endsAt().getEpochSecond()));
    session.arrival().ifPresent(arrival -> row.put(ARRIVAL, nanos(arrival)));
    session.joinedAt().forEach((id, at) -> row.put(joined(id), number(at.getEpochSecond())));
    session.messageAt().ifPresent(at -> row.put(MESSAGE_AT, number(at.getEpochSecond())));
    if (!session.processed().isEmpty()) {
      row.put(PROCESSED, write(session.processed()));
    }
    session.place().ifPresent(place -> row.put(PLACE, write(place)));
    if (session.placeTaken()) {
      row.put(PLACE_TAKEN, AttributeValue.fromBool(true));
    }
    Lifetime lifetime = session.lifetime();
    lifetime.createdAt().ifPresent(at -> row.put(CREATED_AT, number(at.getEpochSecond())));
    lifetime.tokenEndsAt().ifPresent(at -> row.put(TOKEN_ENDS_AT, number(at.getEpochSecond())));
    return row;
  }

  static AttributeValue write(Place place) {
    return Attribute.map(Map.of("epoch", number(place.epoch()), "number", number(place.number())));
  }

  static AttributeValue write(Map<String, Instant> processed) {
    return Attribute.map(processed, name -> name, until -> number(until.getEpochSecond()));
  }

  /**
   * The session in a row; empty if its id is malformed, because the table was edited by hand. Such
   * a row does not make the tenant's other sessions unreadable.
   */
  static Optional<Session> find(Row row) {
    return SessionId.isValid(row.text(ID)) ? Optional.of(read(row)) : Optional.empty();
  }

  static Session read(Row stored) {
    return stored.read("a session of", stored.text(TENANT), SessionRow::session);
  }

  private static Session session(Row row) {
    return new Session(
        new TenantId(row.text(TENANT)),
        new SessionId(row.text(ID)),
        row.texts(CONNECTION_IDS),
        Instant.ofEpochSecond(row.number(ENDS_AT)),
        row.optional(ARRIVAL, row::nanos),
        row.attributes().keySet().stream()
            .filter(name -> name.startsWith(JOINED))
            .collect(
                Collectors.toUnmodifiableMap(
                    name -> name.substring(JOINED.length()),
                    name -> Instant.ofEpochSecond(row.number(name)))),
        row.optional(MESSAGE_AT, row::number).map(Instant::ofEpochSecond),
        row.has(PROCESSED)
            ? row.map(
                PROCESSED, name -> name, (noted, name) -> Instant.ofEpochSecond(noted.number(name)))
            : Map.of(),
        new Lifetime(
            row.optional(CREATED_AT, row::number).map(Instant::ofEpochSecond),
            row.optional(TOKEN_ENDS_AT, row::number).map(Instant::ofEpochSecond)),
        row.optional(PLACE, row::map)
            .map(place -> new Place(place.number("epoch"), place.number("number"))),
        row.has(PLACE_TAKEN) && row.flag(PLACE_TAKEN));
  }

  /** The attribute that holds when a connection joined. */
  static String joined(String connectionId) {
    return JOINED + connectionId;
  }
}
