use strict;
use warnings;
use IO::Socket::INET;

# One client after the other: no hit can be lost.
my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 8080, Listen => 64, ReuseAddr => 1) or die "cannot listen: $!";
my $hits = 0;
while (my $client = $server->accept) {
    my $request = <$client> // '';
    while (defined(my $line = <$client>)) { last if $line =~ /^\r?\n$/ }
    my ($method, $path) = $request =~ m{^(\S+) (\S+)};
    my $known = defined $path && $path eq '/hits';
    $hits += 1 if $known && $method eq 'POST';
    my $body = $known ? $hits : 'not found';
    print $client 'HTTP/1.1 ', ($known ? '200 OK' : '404 Not Found'), "\r\nContent-Length: ", length $body, "\r\nConnection: close\r\n\r\n$body";
    close $client;
}
