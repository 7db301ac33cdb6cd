package dev.tollgate.lawbook;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** A limiter that goes through a history, watched by a witness. */
final class Play {
  private static final String TENANT = "tenant";
  private static final String NEIGHBOUR = "neighbour";
  private static final int STORM = 12;

  private final Setting setting;
  private final Limiter limiter;
  private final Witness witness;
  private final List<Lease> leases = new ArrayList<>();
  private final List<String> answers = new ArrayList<>();
  private final Set<Integer> gifts = new HashSet<>();
  private final Manner manner;
  private Terms terms;
  private Instant refusedUntil = Instant.MIN;
  private boolean gotMore;
  private boolean canRetune = true;
  private int step;

  /** How a history is played. */
  enum Manner {
    /** As it is. */
    PLAIN,
    /** Whoever is refused claims again at once, and again before it is time. */
    INSISTENT,
    /** While another tenant claims as fast as can be. */
    BESIDE_A_STORM
  }

  private Play(Limiter.Maker maker, long seed, Manner manner, Witness witness) {
    this.setting = new Setting(seed);
    this.limiter = maker.make(setting);
    this.manner = manner;
    this.witness = witness;
    this.terms = maker.terms(History.terms(seed));
  }

  /** Plays a history as it is. */
  static Finding of(Limiter.Maker maker, History history, Witness witness) {
    return of(maker, history, Manner.PLAIN, witness, play -> {});
  }

  /** Plays a history, and then what follows it. */
  static Finding of(
      Limiter.Maker maker,
      History history,
      Manner manner,
      Witness witness,
      Consumer<Play> afterwards) {
    Play play = new Play(maker, history.seed(), manner, witness);
    try {
      play.all(history.steps());
      play.step++;
      afterwards.accept(play);
      return new Finding.Kept();
    } catch (Broke broke) {
      return new Finding.Broken(
          play.step,
          Duration.between(Setting.START, play.now()),
          broke.expected(),
          broke.happened());
    } catch (RuntimeException thrown) {
      return new Finding.Broken(
          play.step,
          Duration.between(Setting.START, play.now()),
          "an answer, whatever goes wrong",
          thrown.toString());
    }
  }

  private void all(List<Step> steps) {
    limiter.open(TENANT, terms);
    if (manner == Manner.BESIDE_A_STORM) {
      limiter.open(NEIGHBOUR, terms);
    }
    witness.opened(this);
    for (Step next : steps) {
      step++;
      perform(next);
      witness.stepped(this);
    }
  }

  private void perform(Step next) {
    if (manner == Manner.BESIDE_A_STORM) {
      storm();
    }
    if (next instanceof Step.Wait wait) {
      wait(wait.time());
    } else if (next instanceof Step.Claims claims) {
      for (int i = 0; i < claims.count(); i++) {
        claim(claims.use());
      }
    } else if (next instanceof Step.Spend spend && !leases.isEmpty()) {
      spend(leases.remove(spend.which() % leases.size()));
    } else if (next instanceof Step.GiveBack back && !leases.isEmpty()) {
      giveBack(leases.remove(back.which() % leases.size()));
    } else if (next instanceof Step.Retune retune) {
      retune(retune.terms());
    } else if (next instanceof Step.Vigil) {
      vigil();
    }
  }

  private void storm() {
    for (int i = 0; i < STORM; i++) {
      if (limiter.claim(NEIGHBOUR) instanceof Claim.Admitted admitted) {
        admitted.lease().ifPresent(Lease::spend);
      }
    }
  }

  void wait(Duration time) {
    Instant until = now().plus(time);
    if (manner == Manner.INSISTENT && now().isBefore(refusedUntil)) {
      Duration early = Duration.between(now(), refusedUntil).dividedBy(2);
      pass(early.compareTo(time) < 0 ? now().plus(early) : until);
      insist();
    }
    pass(until);
  }

  private void pass(Instant until) {
    Optional<Instant> timer = limiter.nextTimer();
    while (timer.isPresent() && !timer.get().isAfter(until)) {
      setting.set(timer.get().isAfter(now()) ? timer.get() : now());
      limiter.passedTo(now());
      timer = limiter.nextTimer();
    }
    setting.set(until);
    limiter.passedTo(until);
  }

  Claim claim(Step.Use use) {
    witness.claiming(this);
    Claim claim = limiter.claim(TENANT);
    if (claim instanceof Claim.Admitted && now().isBefore(refusedUntil)) {
      gifts.add(answers.size());
    }
    answers.add(claim.toString());
    witness.claimed(this, claim);
    if (claim instanceof Claim.Refused refused) {
      refusedUntil = now().plus(refused.retryAfter());
      if (manner == Manner.INSISTENT) {
        insist();
      }
    }
    if (claim instanceof Claim.Admitted admitted) {
      if (admitted.lease().isEmpty()) {
        witness.spent(this, Lease.Spending.SPENT);
      } else {
        use(admitted.lease().get(), use);
      }
    }
    return claim;
  }

  /**
   * Claims before it is time. Whoever gets a token, for one came back early, ends the comparison.
   */
  private void insist() {
    for (int i = 0; i < 3; i++) {
      gotMore |= limiter.claim(TENANT) instanceof Claim.Admitted;
    }
  }

  private void use(Lease lease, Step.Use use) {
    switch (use) {
      case SPENT -> spend(lease);
      case HELD -> leases.add(lease);
      case GIVEN_BACK -> giveBack(lease);
    }
  }

  private void spend(Lease lease) {
    boolean ended = !now().isBefore(lease.endsAt());
    Lease.Spending spending = lease.spend();
    answers.add(spending.toString());
    witness.spentLease(this, spending, ended);
    witness.spent(this, spending);
  }

  private void giveBack(Lease lease) {
    boolean ended = !now().isBefore(lease.endsAt());
    witness.givingBack(this);
    lease.giveBack();
    witness.gaveBack(this, ended);
  }

  /** Returns whether the limiter can do that. */
  boolean retune(Terms next) {
    witness.retuning(this);
    canRetune = canRetune && limiter.retune(TENANT, next);
    if (canRetune) {
      terms = next;
      witness.retuned(this);
    }
    return canRetune;
  }

  /** Claims until refused, waits as told, and claims again. */
  void vigil() {
    long claims = 2 * terms.capacity() + 1_000;
    for (long i = 0; i < claims; i++) {
      Claim claim = claim(Step.Use.SPENT);
      if (claim instanceof Claim.Refused refused) {
        Instant at = now();
        Duration most = terms.rate().timeOf(1).plus(terms.grain()).plusSeconds(1);
        wait(refused.retryAfter().compareTo(most) < 0 ? refused.retryAfter() : most);
        witness.waited(this, refused, at, claim(Step.Use.SPENT));
        return;
      } else if (claim instanceof Claim.Undecided) {
        return;
      }
    }
  }

  /** Claims and spends until one is not admitted; says how many were. */
  long drain() {
    long most = 2 * terms.capacity() + 1_000;
    long drained = 0;
    while (drained < most && claim(Step.Use.SPENT) instanceof Claim.Admitted) {
      drained++;
    }
    return drained;
  }

  /** Nothing goes wrong from now on, nobody holds a token, and what was late has come. */
  void calm() {
    setting.calm();
    Instant last = lastEnd();
    leases.clear();
    wait(Duration.between(now(), last).plus(terms.grain().multipliedBy(2)).plusMillis(1));
  }

  Instant now() {
    return setting.now();
  }

  Terms terms() {
    return terms;
  }

  Optional<Books> books() {
    return limiter.books(TENANT);
  }

  Excuse excuse() {
    return limiter.excuse(TENANT);
  }

  long cost() {
    return limiter.cost(TENANT);
  }

  /** The tokens that are held and whose lease has not ended. */
  long holding() {
    return leases.stream().filter(lease -> now().isBefore(lease.endsAt())).count();
  }

  /** Whether the answer of this number was a token that nobody had a right to yet. */
  boolean isGift(int answer) {
    return gifts.contains(answer);
  }

  /** Whether whoever insisted got a token before it was time. */
  boolean gotMore() {
    return gotMore;
  }

  /** When the last of the leases ends, if that is yet to come; else now. */
  Instant lastEnd() {
    return leases.stream()
        .map(Lease::endsAt)
        .filter(end -> end.isAfter(now()))
        .max(Instant::compareTo)
        .orElse(now());
  }

  /** What every claim and spending came to, in order. */
  List<String> answers() {
    return answers;
  }
}
