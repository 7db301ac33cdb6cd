package dev.tollgate.local.engines;

/** The URLs of queues, in the form of AWS. */
final class QueueUrls {
  private QueueUrls() {}

  /** The URL of a queue. */
  static String of(String region, String account, String queue) {
    return "https://" + host(region) + "/" + account + "/" + queue;
  }

  /** The name of the queue that a URL, a path or an ARN ends with. */
  static String name(String urlOrArn) {
    return urlOrArn.substring(Math.max(urlOrArn.lastIndexOf('/'), urlOrArn.lastIndexOf(':')) + 1);
  }

  /** The host name of SQS in a region. */
  static String host(String region) {
    return "sqs." + region + ".amazonaws.com";
  }
}
