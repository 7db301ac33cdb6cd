package dev.tollgate.core.testing.memory;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.message.DeadLetter;
import dev.tollgate.core.message.DeadLetter.Source;
import dev.tollgate.core.message.DeadLetters;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Dead letters in memory. */
public final class InMemoryDeadLetters implements DeadLetters {
  private final InstantSource clock;
  private final Outage outage = new Outage();
  private final Set<TenantId> silos = new HashSet<>();
  private final List<DeadLetter> letters = new ArrayList<>();
  private final List<Moved> moved = new ArrayList<>();
  private int added;
  private Runnable duringSearch = () -> {};

  /** Dead letters that take the time from {@code clock}. */
  public InMemoryDeadLetters(InstantSource clock) {
    this.clock = clock;
  }

  private record Moved(Source queue, String group, String body) {}

  /** The outage of looks and redrives. */
  public Outage outage() {
    return outage;
  }

  /** Runs this in each look. */
  public void duringSearch(Runnable action) {
    duringSearch = action;
  }

  /** Gives a tenant a silo. */
  public synchronized void createSilo(TenantId tenant) {
    silos.add(tenant);
  }

  /** Puts a message into a dead-letter queue. */
  public synchronized void add(Source source, String group, String body) {
    letters.add(new DeadLetter("letter-" + ++added, group, clock.instant(), 5, body, source));
  }

  /** Removes the messages of a tenant that were moved to a queue: their groups and bodies. */
  public synchronized List<String> take(Source queue, TenantId tenant) {
    List<Moved> taken =
        moved.stream()
            .filter(each -> each.queue() == queue && each.group().startsWith(tenant + ":"))
            .toList();
    moved.removeAll(taken);
    return taken.stream().map(each -> each.group() + " " + each.body()).toList();
  }

  private List<DeadLetter> of(Search search) {
    return letters.stream()
        .filter(letter -> letter.group().startsWith(search.tenant() + ":"))
        .filter(letter -> !letter.at().isBefore(search.since()))
        .sorted(Comparator.comparing(DeadLetter::source))
        .toList();
  }

  @Override
  public synchronized Found find(Search search) {
    outage.check("find");
    duringSearch.run();
    return new Found(of(search), search.hasTime().getAsBoolean());
  }

  @Override
  public synchronized Redriven redrive(Search search, int max) {
    outage.check("redrive");
    List<DeadLetter> all = of(search);
    List<DeadLetter> part = all.subList(0, Math.min(max, all.size()));
    Source target = silos.contains(search.tenant()) ? Source.SILO : Source.POOL;
    part.forEach(letter -> moved.add(new Moved(target, letter.group(), letter.body())));
    letters.removeAll(part);
    return new Redriven(part.size(), all.size() < max);
  }
}
